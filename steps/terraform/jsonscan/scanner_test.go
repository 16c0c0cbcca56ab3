package jsonscan

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// hostile holds documents that readers of JSON have stumbled over.
func hostile() []string {
	return []string{
		``, ` `, `{`, `{}`, `[]`, `[[]]`, `{"a":}`, `{"a"}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{"a":1"b":2}`, `{1:2}`, `"a`, `"a"b`, `nul`, `null`, `nullx`,
		`tru`, `true`, `false `, `01`, `-`, `-0`, `-01`, `1.`, `1.0`, `.5`, `1e`, `1e+`, `1e+5`, `1E-5`, `+1`, `0x1`, `NaN`, `1 2`, `{}{}`, "\ufeff{}", "{}\x00",
		`"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\u12"`, `"\u12g4"`, `"\x"`, `"\`, "\"\x01\"", "\"\x7f\"", "\"\xff\xfe\"",
		"\"a\tb\"", `{"a":{"b":[1,{"c":null}]},"a":2}`, strings.Repeat("[", 9999) + strings.Repeat("]", 9999), strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001), strings.Repeat("[", 200000),
		`"` + strings.Repeat("x", 200_000) + `"`, `"` + strings.Repeat(`\n`, 70_000) + `"`, strings.Repeat(" ", 70_000) + "1", strings.Repeat("1", 70_000),
		`{"` + strings.Repeat("k", 2000) + `":1}`,
	}
}

// accepts tells whether a skip takes the whole document.
func accepts(r io.Reader) (bool, error) {
	s := New(r)
	err := s.Skip()
	if err == nil {
		err = s.End()
	}
	var syntax *SyntaxError
	if err != nil && !errors.As(err, &syntax) {
		return false, err
	}
	return err == nil, nil
}

// sameAsLibrary holds every way of reading against encoding/json.
func sameAsLibrary(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, in []byte) {
	want := json.Valid(in)
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(in), "data with its end": iotest.DataErrReader(bytes.NewReader(in)), "halves": iotest.HalfReader(bytes.NewReader(in))} {
		if got, err := accepts(r); got != want || err != nil {
			t.Fatalf("%s: %.200q: accepted %v (%v), encoding/json says %v", name, in, got, err, want)
		}
	}
	walked := New(bytes.NewReader(in))
	got, err := build(walked)
	if err == nil {
		err = walked.End()
	}
	if (err == nil) != want {
		t.Fatalf("%.200q: built with %v, encoding/json says %v", in, err, want)
	}
	if !want {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var lib any
	if err := dec.Decode(&lib); err != nil {
		t.Fatalf("%.200q: %v", in, err)
	}
	if !reflect.DeepEqual(lib, got) && !bytes.Contains(in, []byte(strings.Repeat("1", 65))) {
		t.Errorf("%.200q: another value than that of encoding/json", in)
	}
}

// build reads a value whole, through every method.
func build(s *Scanner) (any, error) {
	k, err := s.Kind()
	if err != nil {
		return nil, err
	}
	switch k {
	case '{':
		out := map[string]any{}
		return out, s.Object(func(key string) error {
			v, err := build(s)
			out[key] = v
			return err
		})
	case '[':
		out := []any{}
		return out, s.Array(func() error {
			v, err := build(s)
			out = append(out, v)
			return err
		})
	case '"':
		text, _, err := s.Text(1 << 30)
		return text, err
	case '0':
		n, err := s.Number()
		return json.Number(n), err
	case 't':
		return s.Bool()
	}
	return nil, s.Skip()
}

func TestSameAsLibrary(t *testing.T) {
	t.Parallel()
	for _, in := range hostile() {
		if len(in) > 1500 && strings.HasPrefix(in, `{"kk`) {
			continue // keys are kept in part only
		}
		sameAsLibrary(t, []byte(in))
	}
}

func TestByteByByte(t *testing.T) {
	t.Parallel()
	for _, in := range hostile() {
		if len(in) > 20_000 {
			continue
		}
		if got, err := accepts(iotest.OneByteReader(strings.NewReader(in))); got != json.Valid([]byte(in)) || err != nil {
			t.Errorf("%.100q: accepted %v, %v", in, got, err)
		}
	}
}

func TestPropertySameAsLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.MarshalIndent(anyValue(4).Draw(t, "doc"), "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if n := rapid.IntRange(0, len(doc)).Draw(t, "at"); rapid.Bool().Draw(t, "break") && n < len(doc) {
			doc[n] = rapid.Byte().Draw(t, "byte")
		}
		sameAsLibrary(t, doc)
	})
}

func anyValue(deep int) *rapid.Generator[any] {
	leaf := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
	}
	if deep > 0 {
		leaf = append(leaf, rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyValue(deep - 1) }), 0, 4).AsAny(),
			rapid.MapOfN(rapid.String(), rapid.Deferred(func() *rapid.Generator[any] { return anyValue(deep - 1) }), 0, 4).AsAny())
	}
	return rapid.OneOf(leaf...)
}

// TestCompactorIgnoresLayout: one content has one sum, however it is laid out
// and cut; another content has another.
func TestCompactorIgnoresLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		plain, _ := json.Marshal(v)
		var loose bytes.Buffer
		enc := json.NewEncoder(&loose)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "\t")
		_ = enc.Encode(v)
		if a, b := compacted(plain, 1<<20), compacted(loose.Bytes(), rapid.IntRange(1, 9).Draw(t, "part")); a != b {
			t.Fatalf("%s and %s give two sums", plain, loose.Bytes())
		}
		w := anyValue(3).Draw(t, "w")
		other, _ := json.Marshal(w)
		if !bytes.Equal(plain, other) && compacted(plain, 1<<20) == compacted(other, 1<<20) {
			t.Fatalf("%s and %s give one sum", plain, other)
		}
	})
}

func compacted(in []byte, part int) [32]byte {
	h := sha256.New()
	c := Compactor{To: h}
	for len(in) > 0 {
		n := min(part, len(in))
		c.Write(in[:n])
		in = in[n:]
	}
	return [32]byte(h.Sum(nil))
}

// TestTap: a tap hears the value that was skipped, whatever the window held.
func TestTap(t *testing.T) {
	t.Parallel()
	value := `{"b":"` + strings.Repeat("y", 100_000) + `"}`
	s := New(strings.NewReader(`{"a":1,"x":` + value + `,"z":2}`))
	var heard bytes.Buffer
	err := s.Object(func(key string) error {
		if key != "x" {
			return s.Skip()
		}
		s.Tap(func(b []byte) { heard.Write(b) })
		defer s.Untap()
		return s.Skip()
	})
	if err != nil || heard.String() != value {
		t.Errorf("tap heard %d bytes, want %d; %v", heard.Len(), len(value), err)
	}
}

func TestFailingSource(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, in := range []string{"", "{", `{"a":`, `{"a":"b`, `{"a":12`, `[1,2`, `12`} {
		s := New(io.MultiReader(strings.NewReader(in), iotest.ErrReader(boom)))
		err := s.Skip()
		if err == nil {
			err = s.End()
		}
		if !errors.Is(err, boom) {
			t.Errorf("%q: %v, want the error of the source", in, err)
		}
	}
}

// TestHugeStringIsNotKept: a string that is skipped costs no memory. It runs
// alone, since the runtime counts for the whole process.
func TestHugeStringIsNotKept(t *testing.T) {
	const size = 32 << 20
	r := io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(letters{}, size), strings.NewReader(`"}`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ok, err := accepts(r)
	runtime.ReadMemStats(&after)
	if !ok || err != nil {
		t.Errorf("accepts() = %v, %v", ok, err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > size/8 {
		t.Errorf("skipping %d bytes allocated %d", size, n)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzScanner(f *testing.F) {
	for _, in := range hostile() {
		if len(in) < 1000 {
			f.Add([]byte(in))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < maxKey {
			sameAsLibrary(t, in)
		}
	})
}
