package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// isSubscription reports whether NAME of a command about ClusterExtensions is a Subscription of the namespace. A name that both have is the
// ClusterExtension, unless --api says otherwise. A kind that the user may not read does not count, and who may not read ClusterExtensions means a
// Subscription, be there one or not.
func isSubscription(ctx context.Context, c client.Reader, api string, key client.ObjectKey) (bool, error) {
	if api != "" {
		return api == apiV0, nil
	}
	extension, err := has(ctx, c, client.ObjectKey{Name: key.Name}, &olmv1.ClusterExtension{})
	unseen := apierrors.IsForbidden(err)
	if err != nil && !unseen || extension {
		return false, err
	}
	subscription, err := has(ctx, c, key, &v1alpha1.Subscription{})
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return subscription || unseen && err == nil, err
}

// noWayBack says why a Subscription cannot be rolled back, and what works instead.
func noWayBack(ctx context.Context, c client.Client, key client.ObjectKey) error {
	h, err := ops.ReadSubscriptionHistory(ctx, c, key)
	if err != nil {
		return err
	}
	before, pkg := cmp.Or(h.Before(), "VERSION"), cmp.Or(h.Package, "PACKAGE")
	return fmt.Errorf(`roll back %s: it is a Subscription of the v0 API, which keeps no earlier revision and has no way back. What works instead:
  fairlead hold %[2]s -n %[3]s: stay at the installed version, until it is mended
  fairlead uninstall %[2]s -n %[3]s, then fairlead install %[4]s -n %[3]s --starting-csv %[5]s --manual: install an earlier version again; custom resources and their
    definitions stay, and fairlead history %[2]s -n %[3]s lists what was installed
  fairlead migrate %[2]s -n %[3]s: make a ClusterExtension of it, which fairlead rollback takes back from then on`, key, key.Name, key.Namespace, pkg, before)
}

// subscription prints the InstallPlan of a Subscription that is next: the one that there is, or the one that would be written.
func (p *extensionPlan) subscription(ctx context.Context, reached reach, catalogs []preview.Catalog, name string) error {
	key := client.ObjectKey{Namespace: reached.namespace, Name: name}
	open, err := ops.OpenPlan(ctx, reached.Reader, key)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	dial := kubeconfig.Dialer(reached.config, reached.Reader)
	planner := func(library *preview.Library) preview.Planner {
		return preview.Planner{Client: reached.client, Library: library, Fetch: library.Fetch, Values: p.values, Command: p.againSubscription(key)}
	}
	if open != nil {
		return withLibrary(ctx, p.streams, func(library *preview.Library) error {
			plan, err := planner(library).Open(ctx, open, name, dial)
			if err != nil {
				return kubeconfig.Explain(err)
			}
			return p.answer(plan)
		})
	}
	q, err := reached.Question(ctx, reached.namespace, p.global)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	q.Catalogs, q.Dial = catalogs, dial
	for _, note := range q.Notes {
		fmt.Fprintf(p.streams.Err, "note: %s\n", note)
	}
	return withLibrary(ctx, p.streams, func(library *preview.Library) error {
		plan, err := planner(library).Subscription(ctx, q, name)
		if err != nil {
			return err
		}
		return p.answer(plan)
	})
}

// againSubscription is the command line of the plan, but for what it is to print.
func (p *extensionPlan) againSubscription(key client.ObjectKey) string {
	line := p.again(key.Name) + " -n " + preview.Quoted(key.Namespace)
	if p.api != "" {
		line += " --api " + preview.Quoted(p.api)
	}
	if p.global != manager.DefaultGlobalNamespace {
		line += " --global-namespace " + preview.Quoted(p.global)
	}
	return line
}

// answer prints the plan of a Subscription, with the exit code of plans.
func (p *extensionPlan) answer(plan *preview.SubscriptionPlan) error {
	switch {
	case !p.roles:
	case plan.MissingRoles != "":
		if plan.NotExamined != "" {
			fmt.Fprintf(p.streams.Err, "note: %s\n", plan.NotExamined)
		}
		_, err := io.WriteString(p.streams.Out, plan.MissingRoles)
		return err
	case plan.NotExamined != "":
		return fmt.Errorf("tell which roles are missing for Subscription %s: %s", plan.Subscription, plan.NotExamined)
	default:
		fmt.Fprintf(p.streams.Err, "Subscription %s: no role is missing\n", plan.Subscription)
		return nil
	}
	if err := p.output.Write(p.streams.Out, plan, plan.Write); err != nil {
		return err
	}
	switch {
	case plan.Blocked():
		return command.ExitError{Code: command.ExitFailed}
	case plan.Changes():
		return command.ExitError{Code: changesCode}
	}
	return nil
}
