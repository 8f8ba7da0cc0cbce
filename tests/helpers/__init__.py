"""What tests share: invented runs, random problems, references, runners for workers, a browser."""
