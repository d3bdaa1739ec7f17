package clusterobjectset

import (
	"context"
	"fmt"
	"maps"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// A CustomResourceDefinition is applied before the pods that convert for it. Where the revision before has another server, that one goes on
// converting until everything else of the revision is available: to lead to a server that does not run yet would fail every request.

// lingering is how long the servers of the revision before stay when nothing leads to them any more: API servers hear of that late, and
// requests that are under way are answered first.
const lingering = 10 * time.Second

// injection is the annotation that tells cert-manager whose authority to write into an object: it goes with the server.
const injection = "cert-manager.io/inject-ca-from"

// converter is the Service that a definition is converted by; nil when there is none.
func converter(u *unstructured.Unstructured) map[string]any {
	if u.GroupVersionKind().GroupKind() != crdKind.GroupKind() {
		return nil
	}
	if strategy, _, _ := unstructured.NestedString(u.Object, "spec", "conversion", "strategy"); strategy != "Webhook" {
		return nil
	}
	service, _, _ := unstructured.NestedMap(u.Object, "spec", "conversion", "webhook", "clientConfig", "service")
	return service
}

// sameServer tells whether two references lead to the same place.
func sameServer(a, b map[string]any) bool {
	return a["namespace"] == b["namespace"] && a["name"] == b["name"] && a["path"] == b["path"] && fmt.Sprint(portOf(a)) == fmt.Sprint(portOf(b))
}

func portOf(service map[string]any) any {
	if port, ok := service["port"]; ok {
		return port
	}
	return int64(443) // what the API server makes of none
}

// keepConverter lets a definition be converted by whatever converts it now, as long as that runs.
func (c *Controller) keepConverter(ctx context.Context, f *family, content map[int]revision.Phase, next rollout.Adjust) rollout.Adjust {
	return func(wanted, live *unstructured.Unstructured) error {
		if err := next(wanted, live); err != nil || live == nil {
			return err
		}
		now, then := converter(live), converter(wanted)
		if now == nil || sameServer(now, then) {
			return nil
		}
		runs, err := c.runs(ctx, f.set, content, now, then)
		if err != nil || !runs {
			return err
		}
		conversion, _, _ := unstructured.NestedMap(live.Object, "spec", "conversion")
		if _, ours, _ := unstructured.NestedString(wanted.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle"); !ours {
			unstructured.RemoveNestedField(conversion, "webhook", "clientConfig", "caBundle") // an injector's
		}
		annotations := wanted.GetAnnotations()
		if from := live.GetAnnotations()[injection]; from != "" && annotations[injection] != "" {
			annotations[injection] = from
			wanted.SetAnnotations(annotations)
		}
		return unstructured.SetNestedMap(wanted.Object, conversion, "spec", "conversion")
	}
}

// pagesRewritten is how many pages of custom resources a pass rewrites for a definition.
const pagesRewritten = 2

// rewritingError reports that the custom resources of a definition are still being rewritten before it is replaced.
type rewritingError struct{ waiting string }

func (e *rewritingError) Error() string { return e.waiting }

// migrate rewrites the custom resources of a definition before versions go that they may be stored in, or the webhook that converts these.
func (c *Controller) migrate(ctx context.Context, next rollout.Adjust) rollout.Adjust {
	return func(desired, live *unstructured.Unstructured) error {
		if err := next(desired, live); err != nil || live == nil {
			return err
		}
		var was, is apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &was); err != nil {
			return fmt.Errorf("read the versions of CustomResourceDefinition %s in the cluster: %w", live.GetName(), err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(desired.Object, &is); err != nil {
			return fmt.Errorf("read the versions of CustomResourceDefinition %s of the revision: %w", desired.GetName(), err)
		}
		m := crd.Migration{Client: c.client, Reader: c.live, Live: &was, Now: c.clock.Now()}
		m.Leaving, m.Unconverted = crd.Leaving(&was, &is)
		waiting, err := m.Rewrite(ctx, pagesRewritten)
		if err == nil && waiting != "" {
			err = &rewritingError{waiting}
		}
		return err
	}
}

// lingers is how long the revisions before one that is complete are not to be archived yet, because API servers may go on asking their servers.
func (c *Controller) lingers(ctx context.Context, f *family) time.Duration {
	older := f.older()
	if len(older) == 0 {
		return 0
	}
	since := c.clock.Now()
	if done := meta.FindStatusCondition(f.set.Status.Conditions, olmv1.TypeSucceeded); done != nil {
		since = done.LastTransitionTime.Time
	}
	left := since.Add(lingering).Sub(c.clock.Now())
	if left <= 0 {
		return 0
	}
	services, _ := c.servers(ctx, f.set)
	for _, set := range older {
		others, asked := c.servers(ctx, set)
		if maps.DeleteFunc(others, func(ref rollout.Ref, _ bool) bool { return services[ref] }); asked && len(others) > 0 {
			return left
		}
	}
	return 0
}

// servers are the Services of a set, and whether API servers ask some. What cannot be read any more is not waited for.
func (c *Controller) servers(ctx context.Context, set *olmv1.ClusterObjectSet) (services map[rollout.Ref]bool, asked bool) {
	phases, _, err := c.read(ctx, set)
	if err != nil {
		return nil, false
	}
	services = map[rollout.Ref]bool{}
	for _, o := range objectsOf(phases) {
		switch kind := o.GroupVersionKind(); {
		case kind.Group == "" && kind.Kind == "Service":
			services[rollout.RefOf(o.Unstructured)] = true
		case kind.Group == "admissionregistration.k8s.io", kind.Group == "apiregistration.k8s.io", converter(o.Unstructured) != nil:
			asked = true
		}
	}
	return services, asked
}

func objectsOf(phases []revision.Phase) []revision.Object {
	var all []revision.Object
	for _, p := range phases {
		all = append(all, p.Objects...)
	}
	return all
}
