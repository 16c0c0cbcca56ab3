package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/triage"
)

// FromMarkdown makes a runbook of a page: its first heading is the title, the text before
// the first command what it is for, and each command of a fenced block a step. A command
// that only reads and that handrail has a probe for becomes that probe; every other one is a
// step by hand, in preserve where it reads and in recover where it may change something.
// Nothing of the page is run. notes say what the author has to look at.
func FromMarkdown(id, page string, cat steps.Catalog) (text string, notes []string) {
	m := markdown{cat: cat, b: book{id: id, title: words(id), pattern: id}, ids: map[string]bool{}}
	m.read(page)
	m.b.pattern = regexp.QuoteMeta(strings.ToLower(m.b.title))
	if m.b.pattern != "" {
		m.b.pattern = "(?i)" + m.b.pattern
	}
	m.b.comment = []string{"From a page of Markdown. Look at each step: which phase it belongs to, what it proves, what it needs."}
	notes = append(m.notes, "recognise: the title stands for the error text; put real error texts in its place",
		"domain, severity: they are guesses")
	if m.changes {
		notes = append(notes, "recover: each step by hand that changes something may have a gate; see handrail step list")
	}
	m.b.steps = append(m.b.steps, step{phase: triage.Learn, key: "note", text: "What would have made this shorter?"})
	return m.b.text(), notes
}

// markdown is a page while it is read.
type markdown struct {
	cat     steps.Catalog
	b       book
	ids     map[string]bool
	title   string // the heading that a command stands under
	prose   []string
	notes   []string
	changes bool
	first   bool // a command was met
}

var (
	heading = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	fence   = regexp.MustCompile("^\\s{0,3}(```+|~~~+)\\s*([A-Za-z0-9_-]*)")
)

// shells are the languages of fences that hold commands; a block of another one is no
// command.
var shells = []string{"", "sh", "bash", "zsh", "shell", "console", "shell-session", "terminal"}

func (m *markdown) read(page string) {
	end, lang, titled := "", "", false
	var block []string
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\r\n")
		switch f := fence.FindStringSubmatch(line); {
		case end != "" && strings.HasPrefix(strings.TrimSpace(line), end):
			if slices.Contains(shells, strings.ToLower(lang)) {
				m.commands(block)
			}
			end, block = "", nil
		case end != "":
			block = append(block, line)
		case f != nil:
			end, lang = f[1], f[2]
		default:
			if h := heading.FindStringSubmatch(line); h != nil {
				if !titled {
					titled, m.b.title = true, h[1]
				} else {
					m.title = h[1]
				}
				m.flush()
				continue
			}
			m.prose = append(m.prose, line)
		}
	}
}

// flush takes the prose so far.
func (m *markdown) flush() string {
	out := strings.Join(strings.Fields(strings.Join(m.prose, " ")), " ")
	m.prose = nil
	if out != "" && !m.first && m.b.doc == "" {
		m.b.doc = out
		return ""
	}
	return out
}

// commands makes a step of each command of a block.
func (m *markdown) commands(block []string) {
	say := m.flush()
	m.first = true
	for _, line := range joined(block) {
		m.command(line, say)
		say = ""
	}
}

// joined puts the lines of a block together that a backslash continues, without prompts,
// comments and what a console printed.
func joined(block []string) []string {
	var out []string
	prompts := slices.ContainsFunc(block, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "$ ") })
	cont := ""
	for _, line := range block {
		line = strings.TrimSpace(line)
		prompt := strings.HasPrefix(line, "$ ")
		line = strings.TrimPrefix(line, "$ ")
		if line == "" || strings.HasPrefix(line, "#") || prompts && !prompt && cont == "" {
			continue
		}
		if rest, more := strings.CutSuffix(line, `\`); more {
			cont += strings.TrimSpace(rest) + " "
			continue
		}
		out = append(out, cont+line)
		cont = ""
	}
	if cont != "" {
		out = append(out, strings.TrimSpace(cont))
	}
	return out
}

func (m *markdown) command(line, say string) {
	if st, ok := m.probe(line); ok {
		st.id, st.title, st.say, st.phase = m.id(st.id), m.title, say, triage.Preserve
		if st.title == "" {
			st.title = line
		}
		st.why = "was: " + line
		m.b.steps = append(m.b.steps, st)
		return
	}
	st := step{phase: triage.Recover, key: "manual", id: m.id("run_" + first(line)), text: "Run: " + line, title: m.title, say: say, more: []string{"evidence: what it printed, or a link to it"}}
	if readsOnly(line) {
		st.phase = triage.Preserve
	} else {
		m.changes = true
		m.notes = append(m.notes, fmt.Sprintf("%s: `%s` may change something; it stands in recover", st.id, line))
	}
	m.b.steps = append(m.b.steps, st)
}

func (m *markdown) id(base string) string {
	base = strings.Trim(regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(base), "_"), "_")
	if base == "" || base[0] < 'a' || base[0] > 'z' {
		base = "run_" + base
	}
	id := base
	for n := 2; m.ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	m.ids[id] = true
	return id
}

// before are the options by which a place is named ahead of the verb.
var before = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:sudo )?(?:kubectl|helm|flux|argocd|terraform|tofu|git)) ((?:(?:-n|--namespace|--context|--kube-context|--kubeconfig|-C)[ =]\S+|-chdir=\S+) )+`)
})

// placed is a command with the options of its place behind it: kubectl -n shop get pods is
// kubectl get pods -n shop.
func placed(line string) string {
	m := before().FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	return line[:m[3]] + " " + strings.TrimSpace(line[m[1]:]) + " " + strings.TrimSpace(line[m[3]:m[1]])
}

// first is the program of a command, and what it is told to do.
func first(line string) string {
	f := strings.Fields(placed(line))
	for len(f) > 0 && (f[0] == "sudo" || strings.Contains(f[0], "=")) {
		f = f[1:]
	}
	if len(f) == 0 {
		return "command"
	}
	out := f[0][strings.LastIndex(f[0], "/")+1:]
	if len(f) > 1 && !strings.HasPrefix(f[1], "-") && slices.Contains([]string{"kubectl", "terraform", "tofu", "git", "helm", "flux", "argocd", "systemctl"}, out) {
		out += "_" + f[1]
	}
	return out
}

// readers are commands that only read; what is more than such a command is none.
var readers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(sudo )?(kubectl (get|describe|logs|top|version|explain|events|api-resources)|(terraform|tofu) (show|state (list|show|pull)|output|version|providers|validate)|git (log|show|status|diff|blame)|helm (list|ls|status|history|get)|flux (get|logs|stats|events)|argocd app (get|list|diff|history)|systemctl status|journalctl|cat|less|head|tail|grep|ls|df|du|ps|free|uptime|dig|nslookup|ping|ss|netstat|stat)\b`)
})

func readsOnly(line string) bool {
	return readers().MatchString(placed(line)) && !strings.ContainsAny(line, ">;&`") && !strings.Contains(line, "$(") && !strings.Contains(line, "| sh") && !strings.Contains(line, "| xargs") && !strings.Contains(line, "| tee") && !strings.Contains(line, "-delete")
}

// probe is the probe that reads what a command reads.
func (m *markdown) probe(line string) (step, bool) {
	f := strings.Fields(placed(line))
	if len(f) < 2 || strings.ContainsAny(line, "|>;&`") || strings.Contains(line, "$(") {
		return step{}, false
	}
	args, flags := split(f[2:])
	switch {
	case f[0] == "kubectl":
		return m.kubectl(f[1], args, flags)
	case f[0] == "terraform" || f[0] == "tofu":
		switch {
		case f[1] == "plan" && len(args) == 0 && len(flags) == 0:
			m.dir()
			return step{key: "uses", id: "plan", text: "terraform/plan", with: [][2]string{{"dir", "${params.dir}"}}}, known(m.cat, "terraform/plan")
		case f[1] == "state" && len(args) > 0 && slices.Contains([]string{"list", "show", "pull"}, args[0]):
			m.dir()
			return step{key: "uses", id: "state", text: "terraform/state", with: [][2]string{{"dir", "${params.dir}"}}}, known(m.cat, "terraform/state")
		}
	}
	return step{}, false
}

func (m *markdown) dir() { m.param("dir", "path", ".", "root module") }

func (m *markdown) kubectl(verb string, args []string, flags map[string]string) (step, bool) {
	if len(args) == 1 && strings.Contains(args[0], "/") {
		args = strings.SplitN(args[0], "/", 2)
	}
	for flag := range flags {
		if !slices.Contains([]string{"-n", "--namespace", "-o", "--output", "-A", "--all-namespaces", "-l", "--selector", "-p", "--previous", "-c", "--container"}, flag) {
			return step{}, false // it means something that the probe does not
		}
	}
	flag := func(names ...string) string {
		for _, n := range names {
			if v := flags[n]; v != "" {
				return v
			}
		}
		return ""
	}
	_, all := flags["-A"]
	_, everywhere := flags["--all-namespaces"]
	out := step{key: "uses", with: [][2]string{}}
	give := func(name, value string) {
		if value != "" {
			out.with = append(out.with, [2]string{name, m.value(value)})
		}
	}
	space := flag("-n", "--namespace")
	switch {
	case (verb == "get" || verb == "describe") && len(args) == 2:
		out.text, out.id = "kube/get", args[0]
		give("resource", args[0])
		give("name", args[1])
	case verb == "get" && len(args) == 1 && (args[0] == "events" || args[0] == "event" || args[0] == "ev"):
		out.text, out.id = "kube/events", "events"
	case verb == "get" && len(args) == 1 && !strings.Contains(args[0], ","):
		out.text, out.id = "kube/list", args[0]
		give("resource", args[0])
		give("selector", flag("-l", "--selector"))
		if all || everywhere {
			give("all_namespaces", "true")
		}
	case verb == "logs" && len(args) > 0:
		if len(args) == 1 {
			args = []string{"pods", args[0]}
		}
		out.text, out.id = "kube/logs", "logs"
		give("resource", args[0])
		give("name", args[1])
		give("container", flag("-c", "--container"))
		if _, before := flags["-p"]; before || flags["--previous"] != "" {
			give("previous", "true")
		}
	default:
		return step{}, false
	}
	give("namespace", space)
	k, ok := m.cat.Lookup(out.text)
	if !ok {
		return step{}, false
	}
	for _, kv := range out.with { // what the kind would not take is left to a person
		i := slices.IndexFunc(k.Params, func(p steps.Field) bool { return p.Name == kv[0] })
		if i < 0 || !strings.HasPrefix(kv[1], "${") && k.Params[i].Pattern != "" && !regexp.MustCompile(`^(?:`+k.Params[i].Pattern+`)$`).MatchString(kv[1]) {
			return step{}, false
		}
	}
	return out, true
}

var blank = regexp.MustCompile(`^(?:\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?|<([A-Za-z][A-Za-z0-9 _-]*)>|\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\})$`)

// value is an argument; a blank that a reader of the page fills in is a parameter.
func (m *markdown) value(arg string) string {
	arg = strings.Trim(arg, `"'`)
	b := blank.FindStringSubmatch(arg)
	if b == nil {
		return escape(arg)
	}
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(b[1]+b[2]+b[3]), "_"), "_")
	m.param(name, "string", "", "as in "+arg)
	return "${params." + name + "}"
}

func (m *markdown) param(name, kind, def, help string) {
	if !slices.ContainsFunc(m.b.params, func(p param) bool { return p.name == name }) {
		m.b.params = append(m.b.params, param{name, kind, def, help})
	}
}

// split tells arguments from flags with their values.
func split(f []string) (args []string, flags map[string]string) {
	flags = map[string]string{}
	alone := []string{"-A", "--all-namespaces", "-p", "--previous"}
	for i := 0; i < len(f); i++ {
		name, value, given := strings.Cut(f[i], "=")
		switch {
		case !strings.HasPrefix(f[i], "-"):
			args = append(args, f[i])
		case given:
			flags[name] = value
		case slices.Contains(alone, name) || i+1 >= len(f):
			flags[name] = ""
		default:
			i++
			flags[name] = f[i]
		}
	}
	return args, flags
}
