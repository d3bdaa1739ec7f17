package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// components are the objects that the install strategy wants. They are computed from the CSV, its OperatorGroup, the
// configuration of its Subscription, and its serving certificates.
type components struct {
	// reach gives the operator its permissions in its target namespaces.
	reach []client.Object
	// serving is what webhooks and aggregated APIs need besides Deployments and certificates.
	serving     []client.Object
	deployments []*appsv1.Deployment
	apiServices []client.Object
	// later are the names of APIServices that still lead to the server of another version, with what is waited for.
	later map[string]string
	// surplus gave the operator its permissions before; old is what the install itself wanted before.
	surplus, old []client.Object
}

// installed are the components that the install itself makes, in the order in which they are applied.
func (c *components) installed() []client.Object {
	out := slices.Clone(c.serving)
	for _, d := range c.deployments {
		out = append(out, d)
	}
	return append(out, c.apiServices...)
}

// compute works out the components, once until something that they depend on changes. A refusal says that there are none
// as long as nobody changes what they are computed from.
func (f *facts) compute(ctx context.Context) (*components, error) {
	if f.wanted != nil {
		return f.wanted, nil
	}
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return nil, err
	}
	config, err := f.subscriptionConfig(ctx)
	if err != nil {
		return nil, err
	}
	out := &components{}
	proxy, err := f.proxyEnv(ctx)
	if err != nil {
		return nil, err
	}
	options := bundle.DeploymentOptions{Config: config, ProxyEnv: proxy, Certs: certificates.bundles(func(c *certificate) []byte { return c.Current.CABundle })}
	if out.deployments, err = bundle.Deployments(f.csv, options); err != nil {
		return nil, refused(err)
	}
	if out.serving, err = f.servingObjects(ctx); err != nil {
		return nil, err
	}
	if out.apiServices, out.later, err = f.handOver(ctx, apiServices(f.csv, config, certificates), out.deployments); err != nil {
		return nil, err
	}
	group, err := f.group(ctx)
	if err != nil {
		return nil, err
	}
	// Where the targets are not known, permissions in them stay as they are.
	if group == nil || !unsynced(group) {
		if out.reach, out.surplus, err = f.extend(ctx); err != nil {
			return nil, err
		}
	}
	if out.old, err = f.oldDeployments(ctx, out.deployments); err != nil {
		return nil, err
	}
	owned, err := f.ownedRoles(ctx)
	if err != nil {
		return nil, err
	}
	out.old = append(out.old, f.servedBefore(owned, out.serving)...)
	apis, err := f.oldAPIServices(ctx)
	if err != nil {
		return nil, err
	}
	serving, err := f.oldServing(ctx)
	if err != nil {
		return nil, err
	}
	out.old = slices.Concat(out.old, apis, serving)
	f.wanted = out
	return out, nil
}

// subscriptionConfig is the configuration of the Subscription that the CSV is, or is becoming, the installed one of.
func (f *facts) subscriptionConfig(ctx context.Context) (*v1alpha1.SubscriptionConfig, error) {
	var list v1alpha1.SubscriptionList
	if err := f.c.client.List(ctx, &list, client.InNamespace(f.csv.Namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s: %w", f.csv.Namespace, err)
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return nil, err
	}
	subscription := subscriptionOf(f.csv, list.Items, chain)
	if subscription == nil {
		return nil, nil
	}
	return subscription.Spec.Config, nil
}

// subscriptionOf picks the Subscription of a CSV: the one that it is installed by, else the one that is moving to it,
// else the one of its package, else the one that has what replaces it. So the configuration is known before the first apply, and stays
// while the next version takes over, one of a package with another name included.
func subscriptionOf(csv *v1alpha1.ClusterServiceVersion, subscriptions []v1alpha1.Subscription, chain *chain) *v1alpha1.Subscription {
	name := bundle.PackageOf(csv)
	for _, belongs := range []func(*v1alpha1.Subscription) bool{
		func(s *v1alpha1.Subscription) bool { return s.Status.InstalledCSV == csv.Name },
		func(s *v1alpha1.Subscription) bool { return s.Status.CurrentCSV == csv.Name },
		func(s *v1alpha1.Subscription) bool { return name != "" && s.Spec.Package == name },
		func(s *v1alpha1.Subscription) bool { return chain.replaces(s.Status.InstalledCSV, csv.Name) },
	} {
		for i := range subscriptions {
			if s := &subscriptions[i]; s.Spec != nil && belongs(s) {
				return s
			}
		}
	}
	return nil
}

// changes compares the components with what there is.
func (f *facts) changes(ctx context.Context) ([]change, error) {
	wanted, err := f.compute(ctx)
	if err != nil {
		return nil, err
	}
	out, err := f.c.compare(ctx, wanted.reach)
	if err != nil {
		return nil, err
	}
	for _, object := range wanted.surplus {
		out = append(out, change{remove: object, byManager: true})
	}
	// What is not to be asked any more is not asked from now on: the pods that are rolled out next do not answer.
	hooks, err := f.computeHooks(ctx)
	if err != nil {
		return nil, err
	}
	for _, object := range hooks.surplus {
		out = append(out, change{remove: object})
	}
	certificates, err := f.certificateChanges(ctx)
	if err != nil {
		return nil, err
	}
	installed, err := f.c.compare(ctx, wanted.installed())
	out = slices.Concat(out, certificates, installed)
	for _, object := range wanted.old {
		out = append(out, change{remove: object})
	}
	return out, err
}

// notComputable looks for reasons why it cannot be told what is wanted: a certificate that the pods cannot serve with, or
// a configuration that makes no sense.
func (f *facts) notComputable(ctx context.Context) (finding, error) {
	found, err := f.firstCertificate(ctx, func(c *certificate) error { return c.unusable })
	if err != nil || found.holds {
		return found, err
	}
	if _, err := f.compute(ctx); isOurRefusal(err) {
		return seen(err.Error()), nil
	} else if err != nil {
		return seenNot, err
	}
	return seenNot, nil
}

// drifted looks for anything that is not as wanted. What was applied in this pass counts as wanted: the caches may not
// show it yet.
func (f *facts) drifted(ctx context.Context) (finding, error) {
	if f.attempt != nil || f.healed {
		return seenNot, nil
	}
	changes, err := f.changes(ctx)
	if err != nil || len(changes) == 0 {
		return seenNot, err
	}
	return seen(changes[0].String()), nil
}
