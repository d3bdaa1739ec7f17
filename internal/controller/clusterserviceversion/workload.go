package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
)

// podsInterval is how often the pods of a Deployment that is not available are asked why.
const podsInterval = 30 * time.Second

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
	apiServices []*apiregistrationv1.APIService
	// later are the names of APIServices that still lead to the server of another version, with what they wait for, and unanswered is why that may take longer.
	later      map[string]string
	unanswered error
	// surplus are permissions that the operator had before; old is what else the strategy asked for before.
	surplus, old []client.Object
}

// installed are the objects that the install itself makes, in the order in which they are applied.
func (w *workload) installed() []client.Object {
	out := slices.Clone(w.serving)
	for _, d := range w.deployments {
		out = append(out, d)
	}
	return append(out, w.registrations()...)
}

// registrations are the APIServices as objects.
func (w *workload) registrations() []client.Object {
	var out []client.Object
	for _, s := range w.apiServices {
		out = append(out, s)
	}
	return out
}

// deployments reads the Deployments under the names of those of the strategy.
func (o *observer) deployments(ctx context.Context) (deployments, error) {
	out := deployments{}
	for _, d := range o.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		live, err := read[*appsv1.Deployment](ctx, o.cache, key(o.csv.Namespace, d.Name), client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, err
		}
		if live != nil {
			out[d.Name] = live
		}
	}
	return out, nil
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
	config, err := o.subscriptionConfig(ctx)
	if err != nil {
		return nil, err
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
	if err := o.handOver(ctx, out, apiServices(o.csv, config, o.certs)); err != nil {
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
		if isServingAccess(r, o.csv) && !keep(r) {
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

// subscriptionConfig is the configuration of the Subscription that the CSV is, or is becoming, the installed one of.
func (o composer) subscriptionConfig(ctx context.Context) (*v1alpha1.SubscriptionConfig, error) {
	var all v1alpha1.SubscriptionList
	if err := list(ctx, o.cache, &all, "the Subscriptions of namespace "+o.csv.Namespace, client.InNamespace(o.csv.Namespace)); err != nil {
		return nil, err
	}
	if subscription := subscriptionOf(o.csv, all.Items, o.replacements); subscription != nil {
		return subscription.Spec.Config, nil
	}
	return nil, nil
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

// apiServices are the registrations of the owned aggregated APIs, one for each group and version.
func apiServices(csv *v1alpha1.ClusterServiceVersion, config *v1alpha1.SubscriptionConfig, certificates certificates) []*apiregistrationv1.APIService {
	trusted := map[string]bundle.ServingCert{}
	for deployment, certificate := range certificates {
		trusted[deployment] = bundle.ServingCert{CA: certificate.trusted}
	}
	out := bundle.APIServices(csv, trusted)
	for _, service := range out {
		if config != nil {
			service.Annotations = maps.Clone(config.Annotations)
		}
	}
	return out
}

// handOver leaves out the APIServices that lead to another server, as long as the one that they are to lead to does not run: clients
// are served as before. For each that is left out it records what is missing.
func (o composer) handOver(ctx context.Context, w *workload, services []*apiregistrationv1.APIService) error {
	w.later = map[string]string{}
	for _, desired := range services {
		is, err := o.apiService(ctx, desired.Name)
		if err != nil {
			return err
		}
		if is != nil && is.Spec.Service != nil && (is.Spec.Service.Namespace != desired.Spec.Service.Namespace || is.Spec.Service.Name != desired.Spec.Service.Name) {
			if w.later[desired.Name], err = o.waitForServer(ctx, w, desired); err != nil {
				return err
			}
		}
		if w.later[desired.Name] == "" {
			w.apiServices = append(w.apiServices, desired)
		}
	}
	return nil
}

// waitForServer is what has to happen until the server of an APIService answers; empty when nothing has to.
func (o composer) waitForServer(ctx context.Context, w *workload, desired *apiregistrationv1.APIService) (string, error) {
	servers := servers{o.observer}
	service := key(desired.Spec.Service.Namespace, desired.Spec.Service.Name)
	for _, d := range w.deployments {
		if bundle.ServingServiceName(d.Name) != service.Name {
			continue
		}
		if detail := unready(d, servers.health(ctx, d, o.running[d.Name])); detail != "" {
			return detail, nil
		}
		if drifted, err := isDrifted(d, o.running[d.Name]); err != nil || drifted { // the pods that are available may serve another certificate
			return fmt.Sprintf("waiting for deployment %s to be as the install strategy asks for", d.Name), err
		}
	}
	if err := servers.answers(ctx, service, "let APIService "+desired.Name+" lead to it", "it leads where it did"); err != nil {
		w.unanswered = errors.Join(w.unanswered, err)
		return err.Error(), nil
	}
	return "", nil
}

// health judges a Deployment, with its pods where it lacks some.
func (o servers) health(ctx context.Context, desired, live *appsv1.Deployment) rollout.Health {
	h := rollout.DeploymentHealth(desired, live, nil)
	if h.State != rollout.Stuck && h.State != rollout.Unready {
		return h
	}
	return rollout.DeploymentHealth(desired, live, rollout.Pods(ctx, o.live, live, o.clock.Now()))
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

// missing looks for Deployments that do not exist, are being deleted, or do not belong to the CSV.
func (live deployments) missing(csv *v1alpha1.ClusterServiceVersion) func(*appsv1.Deployment) string {
	return func(desired *appsv1.Deployment) string {
		if d := live[desired.Name]; d == nil || !d.DeletionTimestamp.IsZero() || !ownedBy(d, csv) {
			return "missing deployment with name=" + desired.Name
		}
		return ""
	}
}

// changed looks for Deployments that were applied with another spec.
func (live deployments) changed(desired *appsv1.Deployment) string {
	d := live[desired.Name]
	if d == nil || d.Labels[v1alpha1.DeploymentSpecHashLabel] == desired.Labels[v1alpha1.DeploymentSpecHashLabel] {
		return ""
	}
	return fmt.Sprintf("deployment changed old hash=%s, new hash=%s", d.Labels[v1alpha1.DeploymentSpecHashLabel], desired.Labels[v1alpha1.DeploymentSpecHashLabel])
}

// stuck is why the cluster gave the rollout of a Deployment up; empty when it did not.
func stuck(desired *appsv1.Deployment, h rollout.Health) string {
	if h.State != rollout.Stuck {
		return ""
	}
	return fmt.Sprintf("deployment %s not ready before timeout: %s", desired.Name, h.Message)
}

// unready is why a Deployment is not available, or that old pods of it are still there; empty when neither is so.
func unready(desired *appsv1.Deployment, h rollout.Health) string {
	switch h.State {
	case rollout.Healthy:
		return ""
	case rollout.Missing:
		return "missing deployment with name=" + desired.Name
	}
	return fmt.Sprintf("waiting for deployment %s to become ready: %s", desired.Name, h.Message)
}

// servers observe what serves the APIs and webhooks of a CSV, and what leads to it.
type servers struct{ *observer }

// apiServicesForeign looks for an owned API that another owner has registered and keeps.
func (o servers) apiServicesForeign(ctx context.Context) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		live, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		if keeper, err := o.keeper(ctx, live); err != nil || keeper != "" {
			return finding{holds: keeper != "", detail: fmt.Sprintf("APIService %s belongs to %s; delete it or them first", live.Name, keeper)}, err
		}
	}
	return seenNot, nil
}

// apiServicesUnready looks for owned APIs that the cluster does not reach or serve yet.
func (o servers) apiServicesUnready(ctx context.Context, w *workload) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		name := description.APIServiceName()
		if wait := w.later[name]; wait != "" {
			return seen(wait), nil
		}
		live, err := o.apiService(ctx, name)
		if err != nil {
			return seenNot, err
		}
		if live == nil || !available(live) {
			detail := fmt.Sprintf("waiting for APIService %s to become available", name)
			if live != nil {
				for _, c := range live.Status.Conditions {
					if c.Type == apiregistrationv1.Available && c.Message != "" {
						return seen(detail + ": " + c.Message), nil
					}
				}
			}
			return seen(detail), nil
		}
		if served, err := o.serves(apiKind(description)); err != nil || !served {
			return finding{holds: err == nil, detail: fmt.Sprintf("waiting for APIService %s to serve kind %s", name, description.Kind)}, err
		}
	}
	return seenNot, nil
}

const (
	// disruptionLimit is how long the pods of a Deployment may take to be replaced, such as when a node is drained, before that counts
	// as a failure.
	disruptionLimit = 5 * time.Minute
	// settlingLimit is how long the cluster may take to reach a server again after its pod has become ready.
	settlingLimit = time.Minute
	// disruptionInterval is how often a disruption is observed: what pods do is not watched.
	disruptionInterval = 10 * time.Second
)

// apisDisrupted looks for an owned API that is not available because pods behind it are just being replaced. That is no failure of the
// operator: no one would have to do anything about it.
func (o servers) apisDisrupted(ctx context.Context, w *workload, live deployments) (finding, error) {
	for _, description := range o.csv.OwnedAPIServices() {
		api, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return seenNot, err
		}
		if api == nil {
			continue
		}
		// The cluster finds out that an API is away a little later than that its pods are.
		away := w.first(func(d *appsv1.Deployment) string {
			if d.Name != description.DeploymentName {
				return ""
			}
			return unready(d, o.health(ctx, d, live[d.Name]))
		})
		if available(api) && !away.holds {
			continue
		}
		detail, err := o.disruption(ctx, live[description.DeploymentName])
		if err != nil || detail == "" {
			return seenNot, err
		}
		return seen(fmt.Sprintf("APIService %s is or goes away: %s", api.Name, detail)), nil
	}
	return seenNot, nil
}

// disruption is what happens to the pods of a Deployment that is over soon; empty when nothing does, or when one of them fails.
func (o servers) disruption(ctx context.Context, live *appsv1.Deployment) (string, error) {
	if live == nil {
		return "", nil
	}
	selector, err := metav1.LabelSelectorAsSelector(live.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("read the selector of Deployment %s/%s: %w", live.Namespace, live.Name, err)
	}
	// This is asked only while an API is not available, which is not worth a cache of pods.
	var pods corev1.PodList
	if err := list(ctx, o.live, &pods, "the pods of "+describeObject(live), client.InNamespace(live.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return "", err
	}
	detail := ""
	for i := range pods.Items {
		pod := &pods.Items[i]
		if rollout.PodFailure(pod) != "" {
			return "", nil
		}
		if what := replacement(pod, o.clock.Now()); what != "" && detail == "" {
			detail = fmt.Sprintf("pod %s %s", pod.Name, what)
		}
	}
	return detail, nil
}

// replacement is how a pod takes part in a disruption that is not older than it may be; empty when it does not.
func replacement(pod *corev1.Pod, now time.Time) string {
	if deleted := pod.DeletionTimestamp; deleted != nil {
		since := deleted.Time
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			since = since.Add(-time.Duration(*grace) * time.Second)
		}
		if now.Sub(since) < disruptionLimit {
			return "is being deleted"
		}
		return ""
	}
	if now.Sub(pod.CreationTimestamp.Time) >= disruptionLimit {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodReady || c.Status != corev1.ConditionTrue {
			continue
		}
		if now.Sub(c.LastTransitionTime.Time) < settlingLimit {
			return "has only just become ready"
		}
		return ""
	}
	if pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning {
		return "is starting"
	}
	return ""
}
