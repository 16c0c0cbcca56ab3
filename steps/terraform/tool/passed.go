package tool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
)

// variable is the name of one of the environment, as an error of a provider writes it. What steers
// a shell or a loader by one word (PATH, ENV, GODEBUG) is none.
const variable = `[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]`

var (
	named   = regexp.MustCompile(`\b` + variable + `\b`)
	aName   = regexp.MustCompile(`\A` + variable + `\z`)
	steered = map[string]string{ // by prefix
		"HANDRAIL_": "handrail itself",
		"TF_":       "the program", "TOFU_": "the program", "OPENTOFU_": "the program", "TERRAFORM_": "the program", "CHECKPOINT_": "the program",
		"TERRAGRUNT_": "the program", "TG_": "the program",
		"TENV_": "which program runs", "TOFUENV_": "which program runs", "TFENV_": "which program runs", "ASDF_": "which program runs", "MISE_": "which program runs", "BASHLOG_": "which program runs",
		"PLUGIN_": "how the program speaks to a provider", "GRPC_": "how the program speaks to a provider", "OTEL_": "where the program reports to",
		"LD_": "what is loaded into a program", "DYLD_": "what is loaded into a program", "GCONV_": "what is loaded into a program", "GLIBC_": "what is loaded into a program", "MALLOC_": "what is loaded into a program",
		"BASH_": "what a shell runs", "PROMPT_": "what a shell runs", "PYTHON_": "what an interpreter runs", "PERL_": "what an interpreter runs", "NODE_": "what an interpreter runs", "NPM_": "what an interpreter runs",
		"JAVA_": "what an interpreter runs", "JDK_": "what an interpreter runs", "RUBY_": "what an interpreter runs",
		"GIT_": "what git runs", "SSH_": "what ssh runs", "GPG_": "what gpg runs",
		"SSL_": "whom a program believes", "OPENSSL_": "whom a program believes", "CURL_": "whom a program believes", "RES_": "how names are looked up",
	}
)

// Refused says why no setting hands on a variable: it steers the program that gets it, or
// handrail. nil where one may.
func Refused(name string) error {
	if !aName.MatchString(name) {
		return fmt.Errorf("%q is not the name of a provider's own variable: capital letters and digits, with _ between words", name)
	}
	for prefix, what := range steered {
		if strings.HasPrefix(name, prefix) {
			return fmt.Errorf("%s cannot be handed on: %s… decides about %s", name, prefix, what)
		}
	}
	if strings.HasSuffix(name, "_PROXY") {
		return fmt.Errorf("%s cannot be handed on: it leads requests elsewhere", name)
	}
	return nil
}

// passed are the variables that the operator hands on beside what each program gets. With an
// error none is.
func passed(env steps.Env) ([]steps.Passed, error) {
	if env.Passed == nil {
		return nil, nil
	}
	all, err := env.Passed()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(p steps.Passed) bool { return Refused(p.Name) != nil }), nil
}

// Withheld says of the variables that an error names and that are set here which of them are
// not handed on to a program, and how it gets them all the same; "" for none.
func Withheld(env steps.Env, said []byte) string {
	more, err := passed(env)
	var names []string
	admissible := false
	for _, name := range named.FindAllString(string(said), -1) {
		set := slices.ContainsFunc(env.Environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if set && !passes(name, more) && !slices.Contains(names, name) {
			names = append(names, name)
			admissible = admissible || Refused(name) == nil
		}
	}
	if len(names) == 0 {
		return ""
	}
	out := fmt.Sprintf("%s is set here, and handrail does not hand it on: a program gets the variables of the known clouds and backends, and TF_VAR_NAME of any name. "+
		"Give the provider the value in its configuration, by a variable of the module that TF_VAR_NAME sets", strings.Join(names, ", "))
	if admissible {
		out += ", or name it in variables.yaml"
	}
	if err != nil {
		out += "; that file hands on nothing now: " + err.Error()
	}
	return out + "; docs/settings.md lists what is handed on."
}
