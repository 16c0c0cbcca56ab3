package evidence

import "testing"

// TestGolden reads a bundle that an earlier build wrote: a change of format shows here.
func TestGolden(t *testing.T) {
	t.Parallel()
	const path, head = "testdata/golden.hrb", "351e373670e7255de0e4982c7a52341314b5be772c7eb66a357a49f0ab30bdab"
	r := mustVerify(t, path)
	if !r.OK() || r.Entries != 4 || r.Head != head {
		t.Fatalf("Verify = %+v", r)
	}
	got, err := entriesOf(t, path)
	if err != nil || string(got[1].Data) != `{"text":"first"}` || len(got[2].Blobs) != 1 {
		t.Fatalf("entries = %+v, %v", got, err)
	}
}
