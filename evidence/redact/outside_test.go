package redact

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"handrail/evidence/jsontree"
)

// A screen or a log is given no value that it was told of, no secret of a team, and no other bundle's token as anything but that.
func TestScrubber(t *testing.T) {
	t.Parallel()
	badge := TeamRule{"badge", "badge no ", `badge no ([0-9]{4,})`}
	s, err := NewScrubber([]string{"plover-egg-twice"}, []TeamRule{badge})
	if err != nil {
		t.Fatal(err)
	}
	s.Secret("heron-egg-once")
	const foreign = "<redacted:field:0123456789abcdef>"
	got := s.Text("plover-egg-twice, heron-egg-once, badge no 12345, " + foreign)
	for _, gone := range []string{"plover", "heron", "no 1"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q is shown: %s", gone, got)
		}
	}
	if !strings.HasSuffix(got, foreign) {
		t.Errorf("a token of a bundle became %s", got)
	}
	other, err := NewScrubber([]string{"plover-egg-twice"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.Text("plover-egg-twice"), other.Text("plover-egg-twice"); a == b || len(s.r.Key()) != KeySize {
		t.Errorf("two scrubbers make the same token %s", a)
	}
	if s, err := NewScrubber(nil, []TeamRule{badge, {"badge", "no", "no"}}); s != nil || err == nil || !strings.HasPrefix(err.Error(), "team rule 2: ") {
		t.Errorf("a rule that is too short gives %v, %v", s, err)
	}
	data, err := jsontree.Parse([]byte(`{"note":"heron-egg-once","id":{"t":"ident","v":"plover-egg-twice"},"password":"x1y2z3"}`), jsontree.LooseKeys)
	if err != nil {
		t.Fatal(err)
	}
	want := []Finding{{-1, "badge"}, {-1, "field"}, {-1, "known"}, {-1, "known"}}
	if got := s.FindInData(data, "clean", "badge no 99999"); !reflect.DeepEqual(got, want) {
		t.Errorf("FindInData() = %v, want %v", got, want)
	}
}

func TestHiddenLine(t *testing.T) {
	t.Parallel()
	badge := []TeamRule{{"badge", "badge no ", `badge no ([0-9]{4,})`}}
	for _, tc := range []struct {
		media, src string
		team       []TeamRule
		want       int
	}{
		{"text/plain", "", nil, 0},
		{"text/plain", "one\ntwo\n", nil, 0},
		{"text/plain", "password: hunter2hunter2\ntwo\n", nil, 1},
		{"text/plain", "one\ntwo\npassword: hunter2hunter2", nil, 3},
		{"text/plain", "one\nbadge no 12345\n", nil, 0},
		{"text/plain", "one\nbadge no 12345\n", badge, 2},
		{"text/plain", "one\n-----BEGIN PRIVATE KEY-----\n", nil, 2},
		{MediaKubeconfig, "apiVersion: v1\nclusters: []\n# a comment\nkind: Config\n", nil, 3},
		{MediaKubeconfig, "apiVersion: v1\nkind: Config\n# the last\n", nil, 3},
		{MediaTFState, "no state", nil, 1},
	} {
		if got, err := HiddenLine(tc.media, []byte(tc.src), tc.team); got != tc.want || err != nil {
			t.Errorf("HiddenLine(%q, %q) = %d, %v, want %d", tc.media, tc.src, got, err, tc.want)
		}
	}
	if line, err := HiddenLine("text/plain", []byte("a"), []TeamRule{{"Bad", "bad", "bad"}}); line != 0 || err == nil {
		t.Errorf("a bad rule gives line %d, %v", line, err)
	}
}

// brokenPipe takes some writes and then none.
type brokenPipe struct{ left int }

var errPipe = errors.New("no space left on device")

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errPipe
	}
	return len(p), nil
}

// What is not written is said: an artifact whose disk is full ends with that error, whatever it is and wherever it was.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	state, _ := bigState(3)
	marked := `{"outputs":{"o":{"sensitive":true,"value":"q8Jd0sLw2hPz5k"}}}`
	lines := strings.Repeat("a line\n", 3*window/7) + marked + "\nan end"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(lines))
	_ = z.Close()
	big := strings.Repeat("a line\n", unitMost/7+1)
	for name, tc := range map[string]struct{ media, in string }{
		"text":               {"text/plain", lines},
		"text over a unit":   {"text/plain", big},
		"UTF-16":             {"text/plain", string(utf16Of("\ufeff"+lines, false))},
		"UTF-16, half":       {"text/plain", string(utf16Of("\ufeffabc", false)) + "x"},
		"gzip":               {"text/plain", packed.String()},
		"gzip, cut":          {"text/plain", packed.String()[:packed.Len()/2]},
		"state":              {MediaTFState, state},
		"broken state":       {MediaTFState, state[:len(state)/2]},
		"state over a unit":  {MediaTFState, strings.Replace(state, "kept-result", strings.Repeat("kept-result ", unitMost/12+1), 1)},
		"JSON":               {MediaJSON, state},
		"no JSON":            {MediaJSON, "no JSON"},
		"env":                {MediaEnv, "A=b\n"},
		"kubeconfig":         {MediaKubeconfig, "apiVersion: v1\n"},
		"no kubeconfig":      {MediaKubeconfig, "nothing of that sort\n"},
		"kubeconfig, packed": {MediaKubeconfig, packed.String()},
	} {
		for _, doubt := range []bool{false, true} {
			if doubt && len(tc.in) > 4<<20 {
				continue // it would take as long again
			}
			t.Run(fmt.Sprint(name, doubt), func(t *testing.T) {
				t.Parallel()
				whole := &brokenPipe{1 << 20}
				if err := through(whole, tc.media, tc.in, doubt); err != nil {
					t.Fatalf("with room: %v", err)
				}
				writes := 1<<20 - whole.left
				if writes == 0 {
					t.Fatal("nothing is written")
				}
				for _, full := range []int{0, writes / 2, writes - 1} {
					if err := through(&brokenPipe{full}, tc.media, tc.in, doubt); !errors.Is(err, errPipe) {
						t.Fatalf("full after %d of %d writes: %v", full, writes, err)
					}
				}
			})
		}
	}
}

func through(out *brokenPipe, media, in string, doubt bool) error {
	r := testRedactor()
	if doubt {
		r.Doubt("0123456789abcdef")
	}
	a := r.Artifact(media, out)
	for len(in) > 0 {
		part := in[:min(len(in), 1<<20)]
		in = in[len(part):]
		if n, err := a.Write([]byte(part)); err != nil {
			return err
		} else if n != len(part) {
			return fmt.Errorf("%d of %d bytes taken", n, len(part))
		}
	}
	_, err := a.Close()
	return err
}

// What is read whole is stored up to a unit; a byte more, and one line says how much was withheld.
func TestWholeUpToAUnit(t *testing.T) {
	t.Parallel()
	config := "apiVersion: v1\nclusters: []\n"
	for _, over := range []int{0, 1, 3 << 20} {
		in := config + strings.Repeat("#", unitMost-len(config)+over)
		want, rules := config, []string(nil)
		if over > 0 {
			want, rules = fmt.Sprintf(withheld, len(in), MediaKubeconfig, unitMost>>20), []string{Unparsed}
		}
		var parts [][]byte
		for at := 0; at < len(in); at += 1 << 20 {
			parts = append(parts, []byte(in[at:min(len(in), at+1<<20)]))
		}
		got, fired := stream(testRedactor(), MediaKubeconfig, parts...)
		if got != want || strings.Join(fired, " ") != strings.Join(rules, " ") {
			t.Errorf("%d bytes more than a unit: %q, %v", over, got[:min(len(got), 200)], fired)
		}
	}
	// A mark that comes later hides what text said before it, in all that is held at once.
	const secret = "q8Jd0sLw2hPz5k"
	marked := `{"outputs":{"o":{"sensitive":true,"value":"` + secret + `"}}}` + "\n"
	for _, more := range []int{0, unitMost} {
		for _, wide := range []bool{false, true} {
			in := "log " + secret + "\n" + strings.Repeat("a line\n", 10) + marked + strings.Repeat("a line\n", more/7)
			if wide {
				in = string(utf16Of("\ufeff"+in, true))
			}
			if got, _ := stream(testRedactor(), "text/plain", []byte(in)); strings.Contains(got, secret) || strings.Count(got, "a line") != 10+more/7 {
				t.Errorf("with %d bytes behind it, wide %v: %q", more, wide, got[:100])
			}
		}
	}
}
