package record

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestValuesComeBack holds the form of values in the journal: what is written is
// read back the same, unknown values with their reason.
func TestValuesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		all := []Value{
			BoolOf(rapid.Bool().Draw(rt, "b")), IntOf(rapid.Int64().Draw(rt, "i")), StringOf(text.Draw(rt, "s")),
			EnumOf(text.Draw(rt, "e")), IdentOf(text.Draw(rt, "id")), PathOf(text.Draw(rt, "p")),
			DurationOf(time.Duration(rapid.Int64().Draw(rt, "d"))),
			TimeOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(rt, "t"), rapid.Int64Range(0, 999_999_999).Draw(rt, "ns"))),
			StringsOf(rapid.SliceOf(text).Draw(rt, "ss")), TableOf(rapid.MapOf(text, text).Draw(rt, "m")),
			Unknown(Duration, rapid.StringN(1, 20, -1).Draw(rt, "why")), {},
		}
		for _, v := range all {
			b, err := json.Marshal(v)
			if err != nil {
				rt.Fatal(err)
			}
			var got Value
			if err := json.Unmarshal(b, &got); err != nil {
				rt.Fatalf("%s: %v", b, err)
			}
			if got.Known() != v.Known() || got.Type() != v.Type() || got.Text() != v.Text() || got.Why() != v.Why() {
				rt.Fatalf("%s came back as %+v, was %+v", b, got, v)
			}
		}
	})
}

func TestZeroValueIsUnknown(t *testing.T) {
	t.Parallel()
	var v Value
	if v.Known() || v.Text() != "unknown" || v.Why() == "" || v.Bool() {
		t.Fatalf("zero value = %+v", v)
	}
}

// TestWhatCannotBeReadIsUnknown: a fact that was redacted, was written by another
// handrail or was tampered with is unknown, and the others of its entry are not.
func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ json, text, why string }{
		{`{"t":"bool","v":"true"}`, "true", ""},
		{`{"t":"bool","v":true}`, "unknown", "could not be read back: json: cannot unmarshal bool into Go value of type string"},
		{`{"t":"bool","v":"7"}`, "unknown", `could not be read back: "7" is not true or false`},
		{`{"t":"int","v":"<redacted:known:0123>"}`, "unknown", `could not be read back: "<redacted:known:0123>" is not a whole number`},
		{`{"t":"strings","v":"a"}`, "unknown", "could not be read back: json: cannot unmarshal string into Go value of type []string"},
		{`{"t":"string","v":null}`, "unknown", "not read"},
		{`{"t":"string"}`, "unknown", "not read"},
		{`null`, "unknown", "not read"},
		{`{"t":"quantity","v":"8Gi"}`, "8Gi", ""}, // of a later handrail
		{`{"t":"quantities","v":["8Gi"]}`, `["8Gi"]`, ""},
		{`{"t":"quantities","v":{"a":"8Gi"}}`, "a=8Gi", ""},
		{`{"t":"quantity","v":8}`, "unknown", "could not be read back: json: cannot unmarshal number into Go value of type string"},
	} {
		var v Value
		if err := json.Unmarshal([]byte(tc.json), &v); err != nil || v.Text() != tc.text || v.Why() != tc.why || v.Bool() != (tc.text == "true") {
			t.Errorf("%s: %q, %q, %v", tc.json, v.Text(), v.Why(), err)
		}
		var pair map[string]Value
		if err := json.Unmarshal([]byte(`{"a":`+tc.json+`,"b":{"t":"int","v":"8"}}`), &pair); err != nil || pair["b"].Int() != 8 {
			t.Errorf("beside %s: %+v, %v", tc.json, pair, err)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	t.Parallel()
	for typ, text := range map[Type]string{Bool: "yes", Int: "1.5", Duration: "30", Time: "today", Strings: "a", Table: "a=b"} {
		if v, err := ParseValue(typ, text); err == nil {
			t.Errorf("ParseValue(%s, %q) = %v, want an error", typ, text, v)
		}
	}
}

func FuzzValue(f *testing.F) {
	f.Add([]byte(`{"t":"duration","v":"2832s"}`))
	f.Add([]byte(`{"t":"strings","v":["a"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Value
		if json.Unmarshal(b, &v) != nil {
			return
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again Value
		if err := json.Unmarshal(out, &again); err != nil || again.Text() != v.Text() {
			t.Fatalf("%s became %s, %v", b, out, err)
		}
	})
}
