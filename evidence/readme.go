package evidence

import _ "embed"

// readmeText is put into every bundle; entry 0 holds its hash.
//
//go:embed bundle_readme.txt
var readmeText string
