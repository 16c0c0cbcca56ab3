package steps

import "testing"

func TestUnknownParamsHaveNoText(t *testing.T) {
	t.Parallel()
	p := Params{"a": Unknown(String, "not read")}
	if p.Text("a") != "" || p.Text("b") != "" {
		t.Fatal("an unknown or absent parameter has a text")
	}
}
