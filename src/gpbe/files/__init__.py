"""Files that are written whole or not at all: text and tables (`atomic`), arrays with a header (`arrays`)."""
