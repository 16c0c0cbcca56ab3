package steps

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func chain(names string, after map[string]string) Graph {
	var g Graph
	for _, name := range strings.Fields(names) {
		g.Nodes = append(g.Nodes, Node{Name: name, After: strings.Fields(after[name])})
	}
	return g
}

func TestRails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		g    Graph
		want string
	}{
		"one by itself":        {chain("a", nil), " "},
		"one after the other":  {chain("a b c", map[string]string{"b": "a", "c": "a b"}), "┌────\n└─┬─▶\n  └─▶"},
		"several before one":   {chain("a b c", map[string]string{"c": "a b"}), "┌──\n├──\n└─▶"},
		"one before several":   {chain("a b c", map[string]string{"b": "a", "c": "a"}), "┌──\n├─▶\n└─▶"},
		"two that have no end": {chain("a b c d", map[string]string{"c": "a", "d": "b"}), "┌────\n│ ┌──\n└─│─▶\n  └─▶"},
	} {
		var got []string
		for _, r := range tc.g.Rails() {
			got = append(got, r.At)
		}
		if s := strings.Join(got, "\n"); s != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, s, tc.want)
		}
	}
}

// TestRailsSayTheEdges: following the lines with a finger leads to what waits
// for what, and nothing else; a row that is continued keeps the lines whole.
func TestRailsSayTheEdges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var g Graph
		for i := range rapid.IntRange(1, 9).Draw(t, "nodes") {
			n := Node{Name: string(rune('a' + i))}
			for j := range 10 { // also on later ones: what the order goes against has no line
				if j != i && rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					n.After = append(n.After, string(rune('a'+j)))
				}
			}
			g.Nodes = append(g.Nodes, n)
		}
		rails := g.Rails()
		var rows [][]rune
		for _, r := range rails {
			rows = append(rows, []rune(r.At))
			if len([]rune(r.At)) != len([]rune(r.Below)) {
				t.Fatalf("%q and below %q", r.At, r.Below)
			}
		}
		for row := range g.Nodes {
			followed := followUp(rows, row)
			for from := range row {
				if got, want := slices.Contains(followed, from), slices.Contains(g.direct(from), row); got != want {
					t.Fatalf("row %d of\n%s\nis drawn after %d: %v, want %v", row, drawing(rails), from, got, want)
				}
			}
			for column, cell := range []rune(rails[row].Below) {
				goesOn := column < len(rows[row])-1 && row+1 < len(rows) && strings.ContainsRune("│├└┼┴", rows[row+1][column])
				if (cell == '│') != goesOn {
					t.Fatalf("below row %d of\n%s\nstands %q", row, drawing(rails), rails[row].Below)
				}
			}
		}
	})
}

// TestMoved: as few names as can be were moved, and the others stand as before.
func TestMoved(t *testing.T) {
	t.Parallel()
	for order, want := range map[string]map[string]int{
		"a b c d": {},
		"c a b d": {"c": 3},
		"a c d b": {"b": 2},
		"d c b a": {"d": 4, "c": 3, "b": 2},
		"x a b":   {},
	} {
		got := Moved(strings.Fields(order), []string{"a", "b", "c", "d"})
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", order, got, want)
		}
	}
}

func drawing(rails []Rail) string {
	var b strings.Builder
	for _, r := range rails {
		b.WriteString(r.At + "\n")
	}
	return b.String()
}

// followUp goes from the head of a row along its line to the left, up each column
// that it meets, and to the rows that go in there.
func followUp(rows [][]rune, row int) []int {
	line := rows[row]
	if line[len(line)-1] != '▶' {
		return nil
	}
	var out []int
	for column := len(line) - 2; column >= 0 && line[column] != ' '; column-- {
		if !strings.ContainsRune("├└┼┴", line[column]) {
			continue
		}
		for up := row - 1; up >= 0; up-- {
			begins := strings.ContainsRune("┌┬", rows[up][column])
			head := rows[up][len(rows[up])-1] == '▶'
			if begins || (rows[up][column] == '├' || rows[up][column] == '┼') && !head {
				out = append(out, up)
			}
			if begins {
				break
			}
		}
	}
	return out
}

// TestDepths: what comes alone from the left edge stays there, and all else stands further than what it
// comes from.
func TestDepths(t *testing.T) {
	t.Parallel()
	g := Graph{Nodes: []Node{{Name: "root"}, {Name: "source"}, {Name: "path", After: []string{"source"}}, {Name: "app", After: []string{"path", "root"}}, {Name: "a", After: []string{"app"}}, {Name: "pod", After: []string{"a"}}, {Name: "b", After: []string{"app"}}, {Name: "lost", After: []string{"nowhere"}}}}
	if got := g.Depths(); !slices.Equal(got, []int{0, 0, 0, 0, 1, 2, 1, 0}) {
		t.Errorf("depths %v", got)
	}
}
