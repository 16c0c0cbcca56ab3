package cli

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/drills"
	cloud "handrail/drills/aws"
	"handrail/drills/bucket"
	"handrail/drills/keycloak"
	"handrail/drills/lab"
	"handrail/drills/store"
)

// needs says in one sentence what a scene has to have built first, "" where all is there.
func needs(p *process.Program, names []string) (string, error) {
	list, err := lab.Needs(lab.Options{Source: p.LabSource}, names...)
	if err != nil {
		return "", err
	}
	var missing []string
	var about time.Duration
	for _, n := range list {
		if !n.Built {
			missing = append(missing, called(n.Part))
			about += n.About
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	took := "less than a minute"
	if about >= time.Minute {
		took = "about " + minutes(about)
	}
	return fmt.Sprintf("To be built first, once: %s. That takes %s on this machine, and the download of Go modules.", strings.Join(missing, "; "), took), nil
}

// goesOn is said before a build begins.
const goesOn = " Ctrl-C stops it, and the next try goes on from there."

// called says what a program of the lab is.
func called(part string) string {
	switch part {
	case "cluster":
		return "the practice cluster (etcd, API server, controller manager)"
	case "tofu":
		return "tofu"
	case "kubernetes", "records":
		return "the provider " + part
	case "rabbitmq":
		return "a message broker (RabbitMQ, unpacked)"
	case "argocd":
		return "Argo CD"
	case "source-controller", "kustomize-controller":
		return "Flux (" + part + ")"
	case "helm":
		return "Helm"
	case "external-secrets":
		return "External Secrets"
	case "gatekeeper":
		return "Gatekeeper"
	case "redis":
		return "Redis (unpacked)"
	case "minio", "minio-admin":
		return "MinIO"
	case "mariadb":
		return "MariaDB (unpacked)"
	case "gitea":
		return "a forge (Gitea; it needs a C compiler)"
	case "git":
		return "a Git server"
	case "writers":
		return "the writers of the drill"
	case "s3":
		return "an S3 server"
	case "dynamodb":
		return "a table of locks (dynalite)"
	case "postgres":
		return "PostgreSQL (unpacked)"
	case "consul":
		return "Consul"
	case "gcs":
		return "an emulator of Cloud Storage"
	case "azure":
		return "an emulator of Azure storage"
	}
	return part
}

func minutes(d time.Duration) string {
	return process.Counted(max(1, int(d.Round(time.Minute)/time.Minute)), "minute")
}

// needsOf is what a scene needs that is not there, with the program of this machine that it takes
// where it needs no cluster.
func needsOf(ctx context.Context, p *process.Program, sc drills.Scene) (string, error) {
	names := sc.Programs()
	if sc.Cluster() {
		say, err := needs(p, names)
		if say != "" {
			say += goesOn
		}
		return say, err
	}
	_, say, err := machineTool(ctx, p)
	if err == nil {
		return "No cluster is needed, and nothing is built: " + say, nil
	}
	why := err.Error()
	if p.Tofu != "" {
		return "", process.Usage("name another one, or none: then one of PATH is taken, or built", "--program: %s", why)
	}
	missing, err := needs(p, names)
	if err != nil {
		return "", fmt.Errorf("%s, and none can be built: %w", why, err)
	}
	if missing != "" {
		missing += goesOn
	} else {
		missing = "The tofu of the lab is taken."
	}
	return "No cluster is needed. " + strings.ToUpper(why[:1]) + why[1:] + ". " + missing, nil
}

// machineTool is the tofu or terraform of this machine that a drill without a cluster takes, and
// how that is said. The error says why there is none.
func machineTool(ctx context.Context, p *process.Program) (path, say string, err error) {
	var tried, why []string
	for _, name := range []string{"tofu", "terraform"} {
		at, err := p.Tool(name)
		if err != nil && p.Tofu != "" {
			return "", "", err
		}
		if err != nil || slices.Contains(tried, at) {
			continue
		}
		tried = append(tried, at)
		m, err := lab.Fits(ctx, at)
		if err == nil {
			return at, fmt.Sprintf("%s fits (wanted is %s).", m, lab.FitFor), nil
		}
		if p.Tofu != "" {
			return "", "", err
		}
		why = append(why, err.Error())
	}
	if len(why) == 0 {
		return "", "", fmt.Errorf("neither tofu nor terraform is on PATH (wanted is %s)", lab.FitFor)
	}
	return "", "", fmt.Errorf("no program on PATH fits: %s", strings.Join(why, "; "))
}

// apart are the options of a drill without a cluster: the program of this machine where one fits,
// else a tofu that is built.
func apart(ctx context.Context, p *process.Program, report func(lab.Progress), progress func(string)) (drills.Options, error) {
	o, err := drillOptions(p, nil, progress)
	if err != nil {
		return o, err
	}
	path, _, err := machineTool(ctx, p)
	if err != nil {
		path, err = lab.Tofu(ctx, lab.Options{Source: p.LabSource, Progress: report})
	}
	o.Tofu = path
	return o, labError(err)
}

// checkPractice says what practice has here and what it would build first.
func checkPractice(ctx context.Context, p *process.Program) process.Check {
	c := process.Check{Name: "practice", State: "ok"}
	_, say, err := machineTool(ctx, p)
	if err != nil {
		c.State, say = "missing", err.Error()+"."
		c.Next = "the first drill builds a tofu then"
	}
	missing, err := needs(p, labParts)
	switch {
	case err != nil:
		missing = "For drills with a cluster nothing can be built: " + err.Error() + "."
	case missing == "":
		missing = "The lab, for drills with a cluster, is built."
	default:
		missing = "For drills with a cluster: t" + strings.TrimPrefix(missing, "T")
	}
	c.Detail = say + " " + missing
	return c
}

// The commands by which handrail keeps the state of a drill, in a bucket and on a server of another backend, and its
// identity realm.
const (
	bucketWord = "__bucket"
	realmWord  = "__realm"
	awsWord    = "__aws"
	storeWord  = "__store"
)

func storeCommand() *cobra.Command {
	return &cobra.Command{
		Use: storeWord, Hidden: true, Args: process.Exactly("a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGHUP)
			return store.Serve(cmd.Context(), args[0])
		},
	}
}

func realmCommand() *cobra.Command {
	return &cobra.Command{
		Use: realmWord, Hidden: true, Args: process.Exactly("a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGHUP)
			return keycloak.Serve(cmd.Context(), args[0])
		},
	}
}

func awsCommand() *cobra.Command {
	return &cobra.Command{
		Use: awsWord, Hidden: true, Args: process.Exactly("a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGHUP)
			return cloud.Serve(cmd.Context(), args[0])
		},
	}
}

func bucketCommand() *cobra.Command {
	return &cobra.Command{
		Use: bucketWord, Hidden: true, Args: process.Exactly("a DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGHUP)
			return bucket.Serve(cmd.Context(), args[0])
		},
	}
}
