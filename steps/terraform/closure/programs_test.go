package closure

import (
	"slices"
	"testing"
)

// TestProgramsAreCutOut: of a block on one line the program alone is shown, without what
// closes the block, and whole.
func TestProgramsAreCutOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`provisioner "local-exec" { command = "sleep 4" }`:                                 {`command "sleep 4"`},
		`resource "a" "b" { provisioner "local-exec" { command = "sleep 4" } }`:            {`command "sleep 4"`},
		`  command = "echo {a} [b] } c"` + "\n}":                                           {`command "echo {a} [b] } c"`},
		`{ command = "echo \"}\" x" }`:                                                     {`command "echo \"}\" x"`},
		`{ command = "run ${lookup({a = "}"}, "a")} y" }`:                                  {`command "run ${lookup({a = "}"}, "a")} y"`},
		`{ command = "a %{ if true }b%{ endif } c" }`:                                      {`command "a %{ if true }b%{ endif } c"`},
		`data "external" "x" { program = ["bash", "-c", "exit 0"] }`:                       {`program ["bash", "-c", "exit 0"]`},
		`{"provisioner": [{"local-exec": {"command": "sleep 4", "working_dir": "/tmp"}}]}`: {`command "sleep 4"`},
		`{"local-exec": {"working_dir": "/tmp", "command": "sleep 4"}}`:                    {`command "sleep 4"`},
		"command = <<EOT\nsleep 4\nEOT\n":                                                  {`command <<EOT`},
		"program = [\n  \"bash\",\n]\n":                                                    {`program [`},
		`command = "cut`:                                                                   {`command "cut`},
		`command = join(" ", ["a", "b"])`:                                                  {`command join(" ", ["a", "b"])`},
		"provider_installation {\n  dev_overrides {\n    \"lab/x\" = \"/opt/x\"\n  }\n}\n": {`dev_overrides "lab/x" = "/opt/x"`},
		`command = }`: nil,
	} {
		if got := programs("main.tf", []byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s\nshows %q, want %q", text, got, want)
		}
	}
}
