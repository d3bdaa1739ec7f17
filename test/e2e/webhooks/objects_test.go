package webhooks

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

func (w *world) secret(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{}
	if !w.Read(name, secret) {
		w.Fatalf("Secret %s is not there", name)
	}
	return secret
}

// deployment reads a Deployment; nil when it is not there.
func (w *world) deployment(name string) *appsv1.Deployment {
	w.Helper()
	d := &appsv1.Deployment{}
	if !w.Read(name, d) {
		return nil
	}
	return d
}

// openGates lets the pods of a Deployment be scheduled that are held back.
func (w *world) openGates(deployment string) {
	w.Helper()
	must.Eventually(w, "open the gates of "+deployment, func() error {
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
	must.NoError(w, w.List(w.Context(), &pods, client.InNamespace(w.Namespace), client.MatchingLabels{"app": deployment}))
	return pods.Items
}
