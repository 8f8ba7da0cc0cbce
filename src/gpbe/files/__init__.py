"""Files: written whole or not at all (`atomic`), and read with limits, a schema and one kind of error.

`reading` is for bytes, JSON and TOML, `npz` for arrays that anybody may have written, `arrays` for gpbe's own with a
header, `sealed` for tables with a checksum, and `tables` for any others.
"""
