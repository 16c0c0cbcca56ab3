package backend

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestLaidOut: what one key cannot hold is laid into parts that read back as what was to be written.
func TestLaidOut(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, consulPart, consulPart + 1, 3*consulPart + 7} {
		for _, packs := range []bool{false, true} {
			content := make([]byte, size)
			for i := range content { // it does not pack well
				content[i] = byte((i*i*31 + i/7) % 251)
			}
			content[0] = '{'
			c := &consulStore{path: "tf/net", packs: packs}
			value, parts, err := c.laidOut(content)
			if err != nil {
				t.Fatal(err)
			}
			list, chunked, err := parseConsulChunks(value, c.path)
			if err != nil || chunked != (len(parts) > 0) {
				t.Fatalf("%d bytes, packed %v: chunked %v, %d parts, %v", size, packs, chunked, len(parts), err)
			}
			if !packs && chunked != (size > consulPart) {
				t.Errorf("%d bytes are in %d parts", size, len(parts))
			}
			joined := value
			if chunked {
				joined = nil
				for _, key := range list.Chunks {
					if len(parts[key]) > consulPart || !strings.HasPrefix(key, "tf/net/tfstate."+list.Hash+"/") {
						t.Errorf("part %q has %d bytes", key, len(parts[key]))
					}
					joined = append(joined, parts[key]...)
				}
				if want := fmt.Sprintf("%x", md5.Sum(content)); list.Hash != want {
					t.Errorf("digest %s, want %s", list.Hash, want)
				}
			}
			body, err := unpacked(io.NopCloser(bytes.NewReader(joined)))
			if err != nil {
				t.Fatal(err)
			}
			if back, err := io.ReadAll(body); err != nil || !bytes.Equal(back, content) {
				t.Errorf("%d bytes, packed %v: read back %d, %v", size, packs, len(back), err)
			}
		}
	}
}
