"""What results look like on a terminal. A page is handed what was computed; it computes nothing itself."""
