package migrate

import (
	"encoding/json"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const crd = "greetings.demo.fairlead.dev"

func (w *world) deployment() *appsv1.Deployment {
	w.Helper()
	d := &appsv1.Deployment{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: pkg}, d))
	return d
}

// workload is what must not change: who restarts, or is made again, would be another one.
func (w *world) workload() map[string]string {
	w.Helper()
	d := w.deployment()
	spec := must.Value(json.Marshal(d.Spec))(w)
	// Its generation counts changes of its annotations, too.
	seen := map[string]string{"Deployment": fmt.Sprint(d.UID, " revision ", d.Annotations["deployment.kubernetes.io/revision"], " ", string(spec))}
	var pods corev1.PodList
	var sets appsv1.ReplicaSetList
	must.NoError(w, errors.Join(w.List(w.Context(), &pods, client.InNamespace(w.name)), w.List(w.Context(), &sets, client.InNamespace(w.name))))
	for _, p := range pods.Items {
		seen["Pod "+p.Name] = fmt.Sprint(p.UID, p.Status.Phase)
	}
	for _, s := range sets.Items {
		seen["ReplicaSet "+s.Name] = fmt.Sprint(s.UID, " generation ", s.Generation)
	}
	account, definition := &corev1.ServiceAccount{}, &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: pkg}, account))
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: crd}, definition))
	seen["ServiceAccount"] = string(account.UID)
	seen["CustomResourceDefinition"] = fmt.Sprint(definition.UID, " generation ", definition.Generation)
	return seen
}

// untouched holds the workload to what it was.
func (w *world) untouched(before map[string]string) {
	w.Helper()
	must.Equal(w, "the workload was touched", w.workload(), before)
}

// installed waits until the Subscription has what it asks for, and its operator runs.
func (w *world) installed() {
	w.Helper()
	must.Eventually(w, "the Subscription has its operator", func() error {
		sub, csv := &v1alpha1.Subscription{}, &v1alpha1.ClusterServiceVersion{}
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter"}, sub); err != nil {
			return err
		}
		if sub.Status.State != v1alpha1.SubscriptionStateAtLatest {
			return fmt.Errorf("the Subscription is %q: %+v", sub.Status.State, sub.Status.Conditions)
		}
		if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: sub.Status.InstalledCSV}, csv); err != nil {
			return err
		}
		var pods corev1.PodList
		if err := w.List(w.Context(), &pods, client.InNamespace(w.name)); err != nil {
			return err
		}
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded || len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("the ClusterServiceVersion is %s: %s, and there are %d pods", csv.Status.Phase, csv.Status.Message, len(pods.Items))
		}
		return nil
	})
}

// extended waits until the ClusterExtension has a version, and nothing else.
func (w *world) extended(bundle string) {
	w.Helper()
	must.Eventually(w, "the ClusterExtension has "+bundle, func() error {
		e := &olmv1.ClusterExtension{}
		if err := w.Get(w.Context(), client.ObjectKey{Name: w.name}, e); err != nil {
			return err
		}
		if s := ops.Stand(e); !s.Done || e.Status.Install.Bundle.Name != bundle || len(e.Status.ActiveRevisions) != 1 {
			return fmt.Errorf("%+v, %+v", s, e.Status.Install)
		}
		return nil
	})
}

// gone waits until the ClusterExtension is not there any more.
func (w *world) gone() {
	w.Helper()
	must.Eventually(w, "the ClusterExtension is gone", func() error {
		err := w.Get(w.Context(), client.ObjectKey{Name: w.name}, &olmv1.ClusterExtension{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
}

// upgradeable is what an operator, or an administrator, says about upgrades.
func upgradeable(is bool, generation int64) metav1.Condition {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: v2.ConditionUpgradeable, Status: status, Reason: "Test", Message: "as the test says", LastTransitionTime: metav1.Now(), ObservedGeneration: generation}
}
