package clusterobjectset

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"
	"fairlead.dev/fairlead/internal/rollout"
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
