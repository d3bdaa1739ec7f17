package reconcile

import (
	"context"
	"fmt"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/schedule"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// UpgradeRules are the objects that say when upgrades in a namespace may begin, besides those that are upgraded. internal/schedule decides.
type UpgradeRules struct {
	ring   string
	layers []schedule.Layer
}

// ReadUpgradeRules reads the OLMConfig and the Namespace. Neither has to exist.
func ReadUpgradeRules(ctx context.Context, reader client.Reader, namespace string) (UpgradeRules, error) {
	var r UpgradeRules
	config := &operatorsv1.OLMConfig{}
	err := reader.Get(ctx, client.ObjectKey{Name: operatorsv1.OLMConfigName}, config)
	if client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		return r, fmt.Errorf("read %s, which may say when upgrades begin: %w", schedule.Cluster, err)
	}
	r.ring = config.Labels[schedule.RingLabel]
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, object); client.IgnoreNotFound(err) != nil {
		return r, fmt.Errorf("read Namespace %s, which may say when upgrades begin: %w", namespace, err)
	}
	r.layers = []schedule.Layer{{Object: schedule.Cluster, Annotations: config.Annotations}, {Object: "Namespace " + namespace, Annotations: object.Annotations}}
	return r, nil
}

// For returns the rules for an object of the namespace, or of the cluster that installs there.
func (r UpgradeRules) For(object string, annotations map[string]string) schedule.Rules {
	return schedule.Read(r.ring, append(r.layers[:len(r.layers):len(r.layers)], schedule.Layer{Object: object, Annotations: annotations})...)
}

// longestSleep bounds how long a request rests that waits for a time: a clock may be set, and a machine suspended.
const longestSleep = time.Hour

// UntilUpgrade is when to requeue what is held: at the instant at which it may begin, or before where that is far ahead; zero where no time ends it.
func UntilUpgrade(held *schedule.Held, now time.Time) time.Duration {
	if held.Until.IsZero() {
		return 0
	}
	return min(max(held.Until.Sub(now), time.Millisecond), longestSleep)
}

// UpgradeRulesChanged passes events of objects that say something else of upgrades than before.
var UpgradeRulesChanged = predicate.Funcs{
	CreateFunc:  func(e event.CreateEvent) bool { return says(e.Object) != [3]string{} && !e.IsInInitialList },
	DeleteFunc:  func(e event.DeleteEvent) bool { return says(e.Object) != [3]string{} },
	UpdateFunc:  func(e event.UpdateEvent) bool { return says(e.ObjectOld) != says(e.ObjectNew) },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// says is what an object says of upgrades.
func says(o client.Object) [3]string {
	return [3]string{o.GetAnnotations()[schedule.WindowKey], o.GetAnnotations()[schedule.NowKey], o.GetLabels()[schedule.RingLabel]}
}
