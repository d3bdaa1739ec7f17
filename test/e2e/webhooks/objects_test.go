package webhooks

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	for _, o := range objects {
		if err := w.Delete(w.Context(), o); client.IgnoreNotFound(err) != nil {
			w.Fatalf("delete %T %s: %v", o, o.GetName(), err)
		}
	}
}

func (w *world) secret(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{}
	if !w.read(name, secret) {
		w.Fatalf("Secret %s is not there", name)
	}
	return secret
}

// deployment reads a Deployment; nil when it is not there.
func (w *world) deployment(name string) *appsv1.Deployment {
	w.Helper()
	d := &appsv1.Deployment{}
	if !w.read(name, d) {
		return nil
	}
	return d
}

// openGates lets the pods of a Deployment be scheduled that are held back.
func (w *world) openGates(deployment string) {
	w.Helper()
	w.eventually("open the gates of "+deployment, func() error {
		pods := w.pods(deployment)
		opened := 0
		for i := range pods {
			if pod := &pods[i]; len(pod.Spec.SchedulingGates) > 0 {
				pod.Spec.SchedulingGates = nil
				if err := w.Update(w.Context(), pod); err != nil {
					return err
				}
				opened++
			}
		}
		if opened == 0 {
			return fmt.Errorf("none of its %d pods is held back", len(pods))
		}
		return nil
	})
}

func (w *world) pods(deployment string) []corev1.Pod {
	w.Helper()
	var pods corev1.PodList
	if err := w.List(w.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{"app": deployment}); err != nil {
		w.Fatal(err)
	}
	return pods.Items
}
