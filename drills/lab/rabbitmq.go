package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoRabbit says that RabbitMQ cannot be had here.
var ErrNoRabbit = errors.New("RabbitMQ was not found where Debian puts it, and apt-get cannot fetch it: install the package rabbitmq-server; it needs not run")

func rabbitPart() Part {
	return Part{Name: "rabbitmq", Program: "rabbitmq", module: filepath.Join("lab", "rabbitmq"), target: "debian", made: rabbitProgram}
}

// Rabbit returns the path of a launcher of RabbitMQ, fetching it when it is
// missing: 33 MB of Debian's packages, once.
func (l *Lab) Rabbit(ctx context.Context) (string, error) {
	o, err := l.options().filled()
	if err != nil {
		return "", err
	}
	return o.ensure(ctx, rabbitPart())
}

// rabbitProgram writes a launcher of the Erlang machine that finds RabbitMQ: of
// this machine, else of the packages of Debian that packages.txt in src names,
// unpacked beside the launcher and not installed.
func rabbitProgram(ctx context.Context, _ Part, src, path string) error {
	if home, ok := rabbitIn("/"); ok {
		return os.WriteFile(path, []byte(home.launcher(nil)), 0o700)
	}
	d := debian{ctx: ctx, home: filepath.Join(filepath.Dir(path), unpacked)}
	wrap := func(err error) error { return fmt.Errorf("%w (%v)", ErrNoRabbit, err) }
	if err := d.packages(src, func(list string) (string, error) { return list, nil }); err != nil {
		return wrap(err)
	}
	home, ok := rabbitIn(d.home)
	if !ok {
		return wrap(errors.New("its packages hold something else than was expected"))
	}
	programs := []string{filepath.Join(home.bin, "beam.smp"), filepath.Join(home.bin, "erlexec"), filepath.Join(home.bin, "erl_child_setup")}
	natives, _ := filepath.Glob(filepath.Join(home.root, "lib", "crypto-*", "priv", "lib", "crypto.so"))
	if err := errors.Join(d.libraries(append(programs, natives...), "erlang-base", "erlang-crypto"), d.strip(), home.strip()); err != nil {
		return wrap(err)
	}
	return os.WriteFile(path, []byte(home.launcher(d.paths())), 0o700)
}

// rabbitHome is where Debian puts RabbitMQ and the Erlang that runs it.
type rabbitHome struct{ root, bin, server string }

func rabbitIn(root string) (h rabbitHome, ok bool) {
	h.root = filepath.Join(root, "usr", "lib", "erlang")
	bins, _ := filepath.Glob(filepath.Join(h.root, "erts-*", "bin", "erlexec"))
	servers, _ := filepath.Glob(filepath.Join(root, "usr", "lib", "rabbitmq", "lib", "rabbitmq_server-*", "plugins"))
	if len(bins) == 0 || len(servers) == 0 {
		return h, false
	}
	h.bin, h.server = filepath.Dir(bins[len(bins)-1]), filepath.Dir(servers[len(servers)-1])
	return h, true
}

// strip removes the plugins that nothing here turns on, three quarters of what
// RabbitMQ looks through at its start.
func (h rabbitHome) strip() error {
	plugins, err := filepath.Glob(filepath.Join(h.server, "plugins", "rabbitmq_*"))
	if err != nil {
		return err
	}
	for _, name := range plugins {
		plugin, _, _ := strings.Cut(filepath.Base(name), "-")
		if slices.Contains([]string{"rabbitmq_prelaunch", "rabbitmq_management", "rabbitmq_management_agent", "rabbitmq_web_dispatch"}, plugin) {
			continue
		}
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(h.server, "escript"))
}

// launcher starts the machine itself: the scripts around it would start epmd,
// which listens everywhere and stays.
func (h rabbitHome) launcher(libs []string) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	set := func(key, value string) { fmt.Fprintf(&b, "export %s=%q\n", key, value) }
	if len(libs) > 0 {
		set("LD_LIBRARY_PATH", strings.Join(libs, ":"))
	}
	set("ROOTDIR", h.root)
	set("BINDIR", h.bin)
	set("EMU", "beam")
	set("PROGNAME", "erl")
	set("ERL_LIBS", filepath.Join(h.server, "plugins"))
	set("RABBITMQ_HOME", h.server)
	set("RABBITMQ_PLUGINS_DIR", filepath.Join(h.server, "plugins"))
	fmt.Fprintf(&b, "exec %q -boot %q \"$@\"\n", filepath.Join(h.bin, "erlexec"), filepath.Join(h.root, "bin", "start_sasl"))
	return b.String()
}

// Broker is a RabbitMQ that is ready to be started.
type Broker struct {
	Args, Env []string // of the launcher
	API       string   // host:port of its management API
	AMQP      string   // host:port
	Password  string   // of BrokerAdmin
}

// BrokerAdmin is the account that administers a broker.
const BrokerAdmin = "lab"

// PrepareBroker writes into dir how a RabbitMQ runs there: its two listeners on
// ports of loopback that were free, the one of the management API at api where
// that is not "", no other, no epmd, no other node, no question to a name server.
// What it says goes to its standard output, each request of the API to dir/http.
func PrepareBroker(dir, api string) (Broker, error) {
	ports, err := LastingPorts(2)
	if err != nil {
		return Broker{}, err
	}
	b := Broker{API: api, AMQP: fmt.Sprintf("127.0.0.1:%d", ports[0]), Password: randomHex(16)}
	if api == "" {
		b.API = fmt.Sprintf("127.0.0.1:%d", ports[1])
	}
	host, port, err := net.SplitHostPort(b.API)
	if err != nil {
		return Broker{}, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	config := fmt.Sprintf(`[{rabbit, [{tcp_listeners, [{"127.0.0.1", %d}]}, {num_tcp_acceptors, 2}, {disk_free_limit, 1000000}, {vm_memory_high_watermark, {absolute, "2GB"}},
  {default_user, <<%q>>}, {default_pass, <<%q>>}, {default_user_tags, [administrator]},
  {log, [{console, [{enabled, true}, {level, info}]}, {file, [{file, false}]}]}]},
 {rabbitmq_management, [{tcp_config, [{ip, %q}, {port, %s}]}, {http_log_dir, %q}]}].
`, ports[0], BrokerAdmin, b.Password, host, port, in("http"))
	// Without it the machine asks name servers who 127.0.0.1 is.
	names := "{lookup, [file]}.\n{hosts_file, \"\"}.\n{resolv_conf, \"\"}.\n{host, {127,0,0,1}, [\"localhost\"]}.\n"
	for name, text := range map[string]string{"broker.config": config, "inetrc": names, "plugins": "[rabbitmq_management].\n"} {
		if err := replace(in(name), []byte(text)); err != nil {
			return Broker{}, err
		}
	}
	b.Env = []string{"HOME=" + dir, "LANG=C.UTF-8", "SYS_PREFIX=" + dir, "ERL_CRASH_DUMP_BYTES=0",
		"RABBITMQ_NODENAME=lab@127.0.0.1", "RABBITMQ_USE_LONGNAME=true", "RABBITMQ_CONFIG_FILE=" + in("broker"), "RABBITMQ_CONF_ENV_FILE=" + in("none"),
		"RABBITMQ_MNESIA_BASE=" + in("data"), "RABBITMQ_MNESIA_DIR=" + in("data/lab"), "RABBITMQ_LOGS=-",
		"RABBITMQ_PLUGINS_EXPAND_DIR=" + in("expand"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + in("plugins")}
	b.Args = []string{"-noinput", "-kernel", "inetrc", fmt.Sprintf("%q", in("inetrc")),
		// A name makes it a node of a cluster, and nothing can reach it as one: it
		// does not listen, and takes a port of epmd for given at which nothing listens.
		"-name", "lab@127.0.0.1", "-dist_listen", "false", "-start_epmd", "false", "-epmd_port", "1", "-erl_epmd_port", "1",
		"-kernel", "prevent_overlapping_partitions", "false", "-syslog", "logger", "[]", "-syslog", "syslog_error_logger", "false",
		"+W", "w", "+S", "1:1", "+sbwt", "none", "+A", "4", "-s", "rabbit", "boot"}
	return b, nil
}

// serveRabbit keeps everything in dir.
func serveRabbit(dir, addr string) (launch, error) {
	b, err := PrepareBroker(dir, addr)
	if err != nil {
		return launch{}, err
	}
	return launch{args: b.Args, env: b.Env, ready: "/", dials: b.AMQP,
		tell: []string{"BROKER_AMQP=" + b.AMQP, "BROKER_USER=" + BrokerAdmin, "BROKER_PASSWORD=" + b.Password}}, nil
}
