package rabbitmq

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
)

// brokersVariable names another file than brokers.yaml.
const brokersVariable = "HANDRAIL_BROKERS"

const (
	largestFile = 256 << 10
	largestWord = 4 << 10 // of a password
	mostBrokers = 200
)

// broker is one that the operator named, with the account that reads it.
type broker struct {
	base     string // scheme://host:port/prefix
	user     string
	password func() (string, error)
	variable string // that the password is in, "" for a file
	ca       []byte // PEM, nil for the roots of the system
}

// brokersFile is where the brokers of the operator stand.
func brokersFile(env steps.Env) (string, error) {
	if name := env.Getenv(brokersVariable); name != "" {
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("%s is %q: it must be a whole path, so that no directory decides which file that is", brokersVariable, name)
		}
		return name, nil
	}
	dir := env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if env.Home == "" {
			return "", errors.New("there is no home directory to look for brokers.yaml in")
		}
		dir = filepath.Join(env.Home, ".config")
	}
	return filepath.Join(dir, "handrail", "brokers.yaml"), nil
}

// brokerAt returns the broker of an address that the operator has named, and an
// error before any request for every other address.
func brokerAt(env steps.Env, address string) (broker, error) {
	base, err := parseBase(address)
	if err != nil {
		return broker{}, err
	}
	name, all, err := readBrokers(env)
	if errors.Is(err, ErrNoFile) {
		return broker{}, fmt.Errorf("%w: %s is not there; write it with the address %s and the account that reads it", errNotNamed, name, base)
	}
	if err != nil {
		return broker{}, err
	}
	i := slices.IndexFunc(all, func(b broker) bool { return b.base == base.String() })
	if i < 0 {
		return broker{}, fmt.Errorf("%w: %s does not have %s; add it with the account that reads it, if it is yours", errNotNamed, name, base)
	}
	return all[i], nil
}

// readBrokers reads the brokers of the operator, and says where they stand.
func readBrokers(env steps.Env) (name string, all []broker, err error) {
	if name, err = brokersFile(env); err != nil {
		return "", nil, err
	}
	raw, err := steps.ReadFile(name, largestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil, fmt.Errorf("%s: %w", name, ErrNoFile)
	}
	if err != nil {
		return name, nil, err
	}
	if all, err = parseBrokers(raw, filepath.Dir(name), env.Getenv); err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, all, nil
}

// Check returns the addresses of the brokers that the operator has named, and the
// file in which they stand. It sends nothing. A broker whose password cannot be had
// is an error; where the file itself is not there it is ErrNoFile.
func Check(env steps.Env) (file string, addresses []string, err error) {
	file, all, err := readBrokers(env)
	for _, b := range all {
		if _, err := b.password(); err != nil {
			return file, nil, fmt.Errorf("%s: %s: %w", file, b.base, err)
		}
		addresses = append(addresses, b.base)
	}
	return file, addresses, err
}

// PasswordVariables are the variables that hold passwords of brokers, by the file that names them.
func PasswordVariables(env steps.Env) ([]string, error) {
	_, all, err := readBrokers(env)
	var out []string
	for _, b := range all {
		if b.variable != "" {
			out = append(out, b.variable)
		}
	}
	return out, err
}

// ErrNoFile says that no broker is named because there is no file that names one.
var ErrNoFile = errors.New("there is no file of brokers")

// errNotNamed says that no request was sent.
var errNotNamed = errors.New("this broker was not named, so nothing was sent to it")

// parseBrokers reads brokers.yaml: one plain document, without aliases, tags or a
// key twice. dir is where its relative names start from.
func parseBrokers(raw []byte, dir string, getenv func(string) string) ([]broker, error) {
	root, err := document(raw)
	if err != nil {
		return nil, fmt.Errorf("not a file of brokers: %w", err)
	}
	top, err := mapping(root, "the file", "apiVersion", "kind", "brokers")
	if err != nil {
		return nil, err
	}
	if scalar(top["apiVersion"]) != "handrail/v1" || scalar(top["kind"]) != "Brokers" {
		return nil, errors.New("not a file of brokers: it begins with apiVersion: handrail/v1 and kind: Brokers")
	}
	list := top["brokers"]
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) > mostBrokers {
		return nil, fmt.Errorf("write the brokers as a list below brokers:, at most %d", mostBrokers)
	}
	var out []broker
	for _, item := range list.Content {
		b, err := parseBroker(item, dir, getenv)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", item.Line, err)
		}
		if slices.ContainsFunc(out, func(o broker) bool { return o.base == b.base }) {
			return nil, fmt.Errorf("line %d: %s again", item.Line, b.base)
		}
		out = append(out, b)
	}
	return out, nil
}

func parseBroker(n *yaml.Node, dir string, getenv func(string) string) (broker, error) {
	f, err := mapping(n, "a broker", "url", "user", "password_file", "password_env", "ca_file", "plain_http")
	if err != nil {
		return broker{}, err
	}
	for _, key := range sortedKeys(f) {
		if f[key].Kind != yaml.ScalarNode || f[key].Value == "" {
			return broker{}, fmt.Errorf("%s must be one word", key)
		}
	}
	base, err := parseBase(scalar(f["url"]))
	if err != nil {
		return broker{}, err
	}
	plain := scalar(f["plain_http"])
	if plain != "" && plain != "true" && plain != "false" {
		return broker{}, errors.New("plain_http is true or false")
	}
	if base.Scheme == "http" && !loopback(base) && plain != "true" {
		return broker{}, fmt.Errorf("%s would get the password readable on its way: use https, or write plain_http: true beside it", base)
	}
	b := broker{base: base.String(), user: scalar(f["user"])}
	if b.user == "" || strings.Contains(b.user, ":") {
		return broker{}, errors.New("user is missing, or has a colon, which no request can carry")
	}
	file, variable := scalar(f["password_file"]), scalar(f["password_env"])
	switch {
	case (file == "") == (variable == ""):
		return broker{}, errors.New("write password_file, a file that holds the password alone, or password_env, the name of a variable")
	case variable != "":
		b.variable = variable
		b.password = func() (string, error) {
			if word := getenv(variable); word != "" {
				return word, nil
			}
			return "", fmt.Errorf("the variable %s, which has the password for %s, is not set", variable, b.base)
		}
	default:
		b.password = func() (string, error) {
			raw, err := steps.ReadFile(steps.Below(dir, file), largestWord)
			if err != nil {
				return "", fmt.Errorf("password for %s: %w", b.base, err)
			}
			word := strings.TrimRight(string(raw), "\r\n")
			if word == "" || strings.ContainsAny(word, "\r\n") {
				return "", fmt.Errorf("%s must hold the password for %s on one line, and nothing else", steps.Below(dir, file), b.base)
			}
			return word, nil
		}
	}
	if name := scalar(f["ca_file"]); name != "" {
		if b.ca, err = steps.ReadFile(steps.Below(dir, name), largestFile); err != nil {
			return broker{}, err
		}
	}
	return b, nil
}
