"""What results look like, on a terminal and as HTML. A page is handed what was computed; it computes nothing itself."""
