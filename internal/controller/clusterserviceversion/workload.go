package clusterserviceversion

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
)

// deployments are the live Deployments under the names of those of the strategy, as far as there are any.
type deployments map[string]*appsv1.Deployment

// workload is what the install strategy asks for, and what differs of it. It follows from the CSV, its OperatorGroup, the configuration of its
// Subscription, and its serving certificates.
type workload struct {
	// permissions are those of the operator in its target namespaces.
	permissions []client.Object
	// serving is what webhooks and aggregated APIs need besides Deployments and certificates.
	serving     []client.Object
	deployments []*appsv1.Deployment
	apiServices []client.Object
	// later are the names of APIServices that still lead to the server of another version, with what they wait for, and unanswered is why that may take longer.
	later      map[string]string
	unanswered error
	// surplus are permissions that the operator had before; old is what else the strategy asked for before.
	surplus, old []client.Object
}

// deployments are the live Deployments under the names of those of the strategy, as the cluster answered in this pass where it was written to.
func (s *snapshot) deployments(ctx context.Context) (deployments, error) {
	return s.liveRead.get(func() (deployments, error) {
		out := deployments{}
		for _, d := range s.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
			live, err := read[*appsv1.Deployment](ctx, s.cache, key(s.csv.Namespace, d.Name), client.UnsafeDisableDeepCopy)
			if err != nil {
				return nil, err
			}
			if live != nil {
				out[d.Name] = live
			}
		}
		maps.Copy(out, s.done.applied)
		return out, nil
	})
}

// composer works out the workload from what it follows from.
type composer struct {
	*observer
	members      membership
	replacements *chain
	certs        certificates
	running      deployments
}

// workload works out the objects of the strategy. A refusal means that there are none as long as nothing changes that they follow from.
func (o composer) workload(ctx context.Context) (*workload, error) {
	rights := rights{o.observer, o.members}
	var subscriptions v1alpha1.SubscriptionList
	if err := list(ctx, o.cache, &subscriptions, "the Subscriptions of namespace "+o.csv.Namespace, client.InNamespace(o.csv.Namespace)); err != nil {
		return nil, err
	}
	var config *v1alpha1.SubscriptionConfig
	if subscription := subscriptionOf(o.csv, subscriptions.Items, o.replacements); subscription != nil {
		config = subscription.Spec.Config
	}
	proxy, err := o.proxyEnv(ctx)
	if err != nil {
		return nil, err
	}
	out := &workload{}
	options := bundle.DeploymentOptions{Config: config, ProxyEnv: proxy, Certs: o.certs.bundles(func(c *certificate) []byte { return c.Current.CABundle })}
	if out.deployments, err = bundle.Deployments(o.csv, options); err != nil {
		return nil, refused(err)
	}
	if out.serving, err = rights.servingObjects(ctx); err != nil {
		return nil, err
	}
	// The registrations of the owned aggregated APIs, one for each group and version.
	services := bundle.APIServices(o.csv, o.certs.bundles(func(c *certificate) []byte { return c.trusted }))
	for _, service := range services {
		if config != nil {
			service.Annotations = maps.Clone(config.Annotations)
		}
	}
	if err := o.handOver(ctx, out, services); err != nil {
		return nil, err
	}
	roles, err := o.ownedObjects(ctx, true, roleLists()...)
	if err != nil {
		return nil, err
	}
	// Where the targets are not known, permissions in them stay as they are.
	if !o.members.unsynced(nil).holds {
		if out.permissions, err = rights.permissions(ctx, roles); err != nil {
			return nil, err
		}
		out.surplus = surplus(o.csv, roles, among(out.permissions))
	}
	if out.old, err = o.formerDeployments(ctx, out.deployments); err != nil {
		return nil, err
	}
	keep := among(out.serving)
	for _, r := range roles {
		if madeFor(r, o.csv, servingAnnotation) && !keep(r) {
			out.old = append(out.old, r)
		}
	}
	apis, err := o.ownedObjects(ctx, false, &apiregistrationv1.APIServiceList{})
	if err != nil {
		return nil, err
	}
	for _, api := range apis {
		if !slices.ContainsFunc(o.csv.OwnedAPIServices(), func(d v1alpha1.APIServiceDescription) bool { return d.APIServiceName() == api.GetName() }) {
			out.old = append(out.old, api)
		}
	}
	serving, err := o.formerServing(ctx)
	out.old = append(out.old, serving...)
	return out, err
}

// ownedObjects lists the objects whose labels name the CSV as their owner, without those that another controller has adopted meanwhile.
func (o *observer) ownedObjects(ctx context.Context, deleting bool, lists ...client.ObjectList) ([]client.Object, error) {
	var out []client.Object
	for _, l := range lists {
		if err := list(ctx, o.cache, l, "the objects of ClusterServiceVersion "+o.name(), client.
			ListOption(client.MatchingFields{indexByOwner: o.name()})); err != nil {
			return nil, err
		}
		err := meta.EachListItem(l, func(item runtime.Object) error {
			if object := item.(client.Object); !isAdopted(object) && (deleting || object.GetDeletionTimestamp().IsZero()) {
				out = append(out, object)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// formerDeployments are the Deployments that belong to the CSV and are not among those of its strategy any more.
func (o *observer) formerDeployments(ctx context.Context, desired []*appsv1.Deployment) ([]client.Object, error) {
	owned, err := o.ownedObjects(ctx, false, &appsv1.DeploymentList{})
	return slices.DeleteFunc(owned, func(live client.Object) bool {
		return !hasOwner(live, o.csv.UID) || slices.ContainsFunc(desired, func(d *appsv1.Deployment) bool { return d.Name == live.GetName() })
	}), err
}

// subscriptionOf picks the Subscription of a CSV: the one that it is installed by, else the one that is moving to it,
// else the one of its package, else the one that has what replaces it. So the configuration is known before the first apply, and stays
// while the next version replaces it, one of a package with another name included.
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

// proxyKind is the kind in which some distributions keep the proxy of the cluster, in an object of this name. The kind
// comes with a CRD: clusters without it have no such setting.
var proxyKind = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "Proxy"}

const (
	proxyCRD  = "proxies.config.openshift.io"
	proxyName = "cluster"
)

// newProxy is an empty object of the kind.
func newProxy() *unstructured.Unstructured {
	proxy := &unstructured.Unstructured{}
	proxy.SetGroupVersionKind(proxyKind)
	return proxy
}

// proxyEnv are the proxy variables of the cluster. They are read past the cache: there is one object, and a
// cache of it could keep every pass waiting where the manager may not list it.
func (o composer) proxyEnv(ctx context.Context) ([]corev1.EnvVar, error) {
	crd, err := o.crd(ctx, proxyCRD)
	if err != nil || crd == nil {
		return nil, err
	}
	proxy := newProxy()
	if err := o.live.Get(ctx, key("", proxyName), proxy); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("read the proxy of the cluster, %s %s: %w", proxyKind.Kind, proxyName, err)
	}
	var out []corev1.EnvVar
	for _, p := range []struct{ variable, field string }{{"HTTP_PROXY", "httpProxy"}, {"HTTPS_PROXY", "httpsProxy"}, {"NO_PROXY", "noProxy"}} {
		value, _, err := unstructured.NestedString(proxy.Object, "status", p.field)
		if err != nil {
			return nil, fmt.Errorf("read status.%s of %s %s: %w", p.field, proxyKind.Kind, proxyName, err)
		}
		if value != "" {
			out = append(out, corev1.EnvVar{Name: p.variable, Value: value})
		}
	}
	return out, nil
}

// first names the first Deployment of the strategy with something wrong; the judgement of one that is in order is empty.
func (w *workload) first(judge func(desired *appsv1.Deployment) string) finding {
	for _, d := range w.deployments {
		if detail := judge(d); detail != "" {
			return seen(detail)
		}
	}
	return seenNot
}

// changed looks for Deployments that were applied with another spec.
func (live deployments) changed(desired *appsv1.Deployment) string {
	d := live[desired.Name]
	if d == nil || d.Labels[v1alpha1.DeploymentSpecHashLabel] == desired.Labels[v1alpha1.DeploymentSpecHashLabel] {
		return ""
	}
	return fmt.Sprintf("deployment changed old hash=%s, new hash=%s", d.Labels[v1alpha1.DeploymentSpecHashLabel], desired.Labels[v1alpha1.DeploymentSpecHashLabel])
}

// unready is why a Deployment is not available, or that old pods of it are still there; empty when neither is so.
func unready(desired *appsv1.Deployment, h rollout.Health) string {
	switch h.State {
	case rollout.Healthy, rollout.Unproven:
		return ""
	case rollout.Missing:
		return "missing deployment with name=" + desired.Name
	}
	return fmt.Sprintf("waiting for deployment %s to become ready: %s", desired.Name, h.Message)
}
