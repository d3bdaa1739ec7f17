package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
)

const planHelp = `Tell what would change in the cluster if a ClusterExtension or a Subscription was brought up to date now: objects that are added, changed and removed,
verdicts on CustomResourceDefinitions, permissions and images that come and go, and what is in the way. The manager's own code decides, renders
and checks, and nothing is written.

NAME is a ClusterExtension of the cluster, or a Subscription of the namespace: of that the InstallPlan is shown that waits for approval or is
carried out, or what the one would change that would be written now. A name that both have is the ClusterExtension, unless --api v0 says otherwise.
-f reads a ClusterExtension from a file instead, which may be new, or say something else than the one of its name in the cluster.

With --diff changed fields have their values, those of Secrets excepted. --missing-roles prints the Roles, ClusterRoles and bindings that the service
account lacks, to be piped into kubectl auth reconcile -f -, and nothing else.

Exit code 0: nothing would change. 2: something would. 1: something is in the way, or went wrong, or the command line was not understood; it is
said what.`

// changesCode is the exit code of a plan that changes something.
const changesCode = 2

// extensionPlan is `fairlead plan`: what its flags say.
type extensionPlan struct {
	streams  command.Streams
	cluster  kubeconfig.Flags
	file     string
	api      string
	global   string
	catalogs []string
	output   command.Output
	values   bool // of changed fields
	roles    bool // those that are missing, and nothing else
}

// reach is a cluster, how it is reached, and the namespace to work in.
type reach struct {
	preview.Cluster
	client    client.Client
	config    *rest.Config
	namespace string
}

// run prints what would change for the extension or the Subscription that is named, or for the only extension in the file.
func (p *extensionPlan) run(ctx context.Context, args []string) error {
	if len(args) == 0 && p.file == "" {
		return command.UsageError{Err: errors.New("name a ClusterExtension, or a file that has one with -f")}
	}
	if err := (&target{api: p.api}).check(); err != nil {
		return err
	}
	if err := p.output.Check(); err != nil {
		return err
	}
	var catalogs []preview.Catalog
	for _, text := range p.catalogs {
		c, err := preview.ParseOfflineCatalog(text)
		if err != nil {
			return command.UsageError{Err: err}
		}
		catalogs = append(catalogs, c)
	}
	reached, err := p.reach()
	if err != nil {
		return err
	}
	name := strings.Join(args, "")
	if p.file == "" {
		is, err := isSubscription(ctx, reached.client, p.api, client.ObjectKey{Namespace: reached.namespace, Name: name})
		if err != nil {
			return kubeconfig.Explain(err)
		}
		if is {
			return p.subscription(ctx, reached, catalogs, name)
		}
	}
	again := p.again(name)
	c := reached.client
	q, err := reached.question(ctx)
	if err != nil {
		return err
	}
	q.Catalogs = catalogs
	if p.file != "" {
		if name, err = p.filed(ctx, c, q, name); err != nil {
			return err
		}
	}
	return withLibrary(ctx, p.streams, func(library *preview.Library) error {
		plan, err := preview.Planner{Client: c, Library: library, Fetch: library.Fetch, Values: p.values, Command: again}.Plan(ctx, q, name)
		if err != nil {
			return err
		}
		if p.roles {
			return p.missingRoles(plan)
		}
		if err := p.output.Write(p.streams.Out, plan, plan.Write); err != nil {
			return err
		}
		switch {
		case len(plan.Blocked) > 0:
			return command.ExitError{Code: command.ExitFailed}
		case plan.Changes():
			return command.ExitError{Code: changesCode}
		}
		return nil
	})
}

// missingRoles prints the roles with what the service account lacks, to be applied, and nothing where it lacks nothing.
func (p *extensionPlan) missingRoles(plan *preview.ExtensionPlan) error {
	switch {
	case plan.MissingRoles != "":
		_, err := io.WriteString(p.streams.Out, plan.MissingRoles)
		return err
	case plan.RightsExamined:
		fmt.Fprintf(p.streams.Err, "ClusterExtension %s: no role is missing\n", plan.Extension)
		return nil
	case len(plan.Blocked) == 0 && !plan.Changes():
		fmt.Fprintf(p.streams.Err, "ClusterExtension %s: nothing would be written, so no role is needed\n", plan.Extension)
		return nil
	}
	reasons := slices.Concat(plan.Blocked, plan.Notes)
	return fmt.Errorf("find the roles that ClusterExtension %s lacks: its rights were not examined:\n%s", plan.Extension, strings.Join(reasons, "\n"))
}

// again is the command line of the plan, but for what it is to print.
func (p *extensionPlan) again(name string) string {
	line := []string{"fairlead", "plan"}
	if name != "" {
		line = append(line, preview.Quoted(name))
	}
	if p.file == "-" {
		line = append(line, "-f", "FILE") // what standard input had is gone
	} else if p.file != "" {
		line = append(line, "-f", preview.Quoted(p.file))
	}
	for _, catalog := range p.catalogs {
		line = append(line, "--catalog", preview.Quoted(catalog))
	}
	return strings.Join(line, " ")
}

// reach connects to the cluster.
func (p *extensionPlan) reach() (r reach, err error) {
	if r.client, r.namespace, err = p.cluster.Connect(); err != nil {
		return r, err
	}
	if r.config, err = p.cluster.Config(); err != nil {
		return r, err
	}
	server, err := discovery.NewDiscoveryClientForConfig(r.config)
	if err != nil {
		return r, fmt.Errorf("connect to the cluster at %s: %w", r.config.Host, err)
	}
	r.Cluster = preview.Cluster{Reader: r.client, Server: server}
	return r, nil
}

// question is what the cluster has.
func (r reach) question(ctx context.Context) (*preview.Question, error) {
	q, err := r.Extensions(ctx)
	if err == nil {
		q.Dial = kubeconfig.Dialer(r.config, r.client)
		q.Kubernetes, err = r.Kubernetes()
	}
	return q, kubeconfig.Explain(err)
}

// filed puts the extension of the file into the place of the one of its name.
func (p *extensionPlan) filed(ctx context.Context, c client.Client, q *preview.Question, name string) (string, error) {
	in, err := p.streams.Open(p.file)
	if err != nil {
		return "", fmt.Errorf("read the ClusterExtension: %w", err)
	}
	defer in.Close()
	var o preview.Objects
	if err := o.Decode(p.file, in); err != nil {
		return "", err
	}
	for _, unknown := range o.Unknown {
		fmt.Fprintf(p.streams.Err, "note: %s\n", unknown)
	}
	var names []string
	for i := range o.Extensions {
		e := &o.Extensions[i]
		if names = append(names, e.Name); name != "" && e.Name != name || name == "" && len(o.Extensions) != 1 {
			continue
		}
		if err := preview.Live(ctx, c, e); err != nil {
			return "", err
		}
		q.Ask(e)
		return e.Name, nil
	}
	return "", fmt.Errorf("read the ClusterExtension from %s: it has %d (%s), and one has to be chosen: name it, as in fairlead plan NAME -f %[1]s", p.file, len(names), strings.Join(names, ", "))
}
