package clusterserviceversion

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// imageOf is the image that the cluster runs.
func (w *world) imageOf(deployment string) (string, error) {
	d := w.deployment(deployment)
	if d == nil {
		return "", fmt.Errorf("Deployment %s is not there", deployment)
	}
	return d.Spec.Template.Spec.Containers[0].Image, nil
}

// runs waits until a Deployment has an image.
func (w *world) runs(deployment, image string) {
	w.Helper()
	must.Eventually(w, deployment+" to run "+image, func() error {
		got, err := w.imageOf(deployment)
		if err == nil && got != image {
			err = fmt.Errorf("it runs %s", got)
		}
		return err
	})
}

// TestOneRollout: labels and annotations of the strategy, of the CSV and of its group are there with the first rollout, and what the
// author said in the template gives way to the CSV.
func TestOneRollout(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"foo": "csv", "only": "csv"}
	}, strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		s.DeploymentSpecs[0].Label = map[string]string{"tier": "control"}
		s.DeploymentSpecs[0].Spec.Template.Annotations = map[string]string{"foo": "template", "own": "template"}
	})))
	w.Succeeds("op.v1")
	d := w.deployment("manager")
	for name, want := range map[string]string{
		"foo": "csv", "only": "csv", "own": "template",
		"olm.operatorGroup": "group", "olm.operatorNamespace": w.Namespace, "olm.targetNamespaces": w.Namespace,
	} {
		must.Equal(t, fmt.Sprintf("annotation %s of the pods", name), d.Spec.Template.Annotations[name], want)
	}
	for name, want := range map[string]string{"tier": "control", "olm.managed": "true", "olm.owner": "op.v1", "olm.owner.namespace": w.Namespace, "olm.owner.kind": "ClusterServiceVersion"} {
		must.Equal(t, fmt.Sprintf("label %s of the Deployment", name), d.Labels[name], want)
	}
	w.rolledOut("manager", 1)
	w.stands("op.v1")
}

func (w *world) rolledOut(deployment string, times int) {
	w.Helper()
	// The ReplicaSets that a Deployment ever had, as far as they are kept, and its generation.
	d := w.deployment(deployment)
	if d == nil {
		w.Fatalf("Deployment %s is not there", deployment)
	}
	var list appsv1.ReplicaSetList
	must.NoError(w, w.List(w.Context(), &list, client.InNamespace(w.Namespace)))
	sets := 0
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], d) {
			sets++
		}
	}
	if generation := d.Generation; sets != times || generation != int64(times) {
		w.Errorf("Deployment %s was rolled out %d times, its generation is %d; want %d", deployment, sets, generation, times)
	}
}

// TestPartlyAvailable: an operator of two replicas, one of which may be missing, runs with one pod.
func TestPartlyAvailable(t *testing.T) {
	w := newWorld(t)
	one, two := intstr.FromInt32(1), int32(2)
	w.install(w.operator("op.v1", strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		spec := &s.DeploymentSpecs[0].Spec
		spec.Replicas = &two
		spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &one}}
		// All nodes are of one kind, so there is room for one.
		spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: spec.Selector, TopologyKey: "kubernetes.io/os"},
		}}}
	})))
	w.Succeeds("op.v1")
	if d := w.deployment("manager"); d.Status.AvailableReplicas != 1 || d.Status.Replicas != 2 {
		t.Errorf("%d of %d pods are available", d.Status.AvailableReplicas, d.Status.Replicas)
	}
}

// TestDriftIsHealed within seconds, and what others added stays.
func TestDriftIsHealed(t *testing.T) {
	w := newWorldAlone(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")

	three := int32(3)
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = "example.com/evil:1"
		d.Spec.Replicas = &three
		d.Spec.Template.Annotations["example.com/restarted"] = "now"
		delete(d.Labels, "olm.owner")
	})
	w.promptly("an edited Deployment to be healed", func() error {
		got, err := w.imageOf("manager")
		if d := w.deployment("manager"); err == nil && (got != "example.com/manager:1" || d.Labels["olm.owner"] != "op.v1") {
			err = fmt.Errorf("it runs %s, labels %v", got, d.Labels)
		}
		return err
	})
	if d := w.deployment("manager"); *d.Spec.Replicas != 3 || d.Spec.Template.Annotations["example.com/restarted"] != "now" {
		t.Error("what somebody else had added is gone")
	}
	w.Succeeds("op.v1")

	before := w.deployment("manager").UID
	w.Remove(w.deployment("manager"))
	w.promptly("a deleted Deployment to be made again", func() error {
		if d := w.deployment("manager"); d == nil || d.UID == before {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
	w.Succeeds("op.v1")

	none := int32(0)
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Replicas = &none })
	csv := &v1alpha1.ClusterServiceVersion{}
	w.promptly("a Deployment that was scaled to zero to be told", func() error {
		if err := w.Check(csv, "op.v1", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting); err != nil {
			return err
		}
		if want := "installing: waiting for deployment manager to become ready: Deployment manager is scaled to 0 replicas; scale it up again"; csv.Status.Message != want {
			return fmt.Errorf("message %q", csv.Status.Message)
		}
		return nil
	})
	one := int32(1)
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Spec.Replicas = &one })
	w.Succeeds("op.v1")
}

// TestDeploymentThatCannotGo: a finalizer of somebody else keeps a deleted Deployment; that is told, and it is made again afterwards.
func TestDeploymentThatCannotGo(t *testing.T) {
	w := newWorldAlone(t)
	w.install(w.operator("op.v1"))
	w.Succeeds("op.v1")
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Finalizers = append(d.Finalizers, "example.com/hold") })
	before := w.deployment("manager").UID
	w.Remove(w.deployment("manager"))
	csv := &v1alpha1.ClusterServiceVersion{}
	w.promptly("a Deployment that is being deleted to be told", func() error {
		err := w.Check(csv, "op.v1", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting)
		if want := "installing: waiting for deployment manager to become ready: it is being deleted"; err == nil && csv.Status.Message != want {
			err = fmt.Errorf("message %q", csv.Status.Message)
		}
		return err
	})
	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) { d.Finalizers = nil })
	w.Succeeds("op.v1")
	if d := w.deployment("manager"); d == nil || d.UID == before {
		t.Error("the Deployment was not made again")
	}
}

// TestEditedInPlace: an edit of the CSV rolls out once, also over what somebody had edited by hand; what it no longer has goes, and a
// renamed Deployment takes the place of the old one.
func TestEditedInPlace(t *testing.T) {
	w := newWorld(t)
	w.install(w.operator("op.v1", withDeployments("manager", "helper")))
	w.Succeeds("op.v1")
	change := func(how change) {
		edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, how)
	}
	change(withImage("example.com/manager:2"))
	w.runs("manager", "example.com/manager:2")
	w.Succeeds("op.v1")
	w.rolledOut("manager", 2)
	w.rolledOut("helper", 1)

	edit(w, "manager", &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "example.com/sidecar:1"})
	})
	change(withImage("example.com/manager:3"))
	w.runs("manager", "example.com/manager:3")
	w.Succeeds("op.v1")

	change(withDeployments("manager"))
	w.Goes("helper", &appsv1.Deployment{})
	w.Succeeds("op.v1")
	change(withDeployments("renamed"))
	w.Goes("manager", &appsv1.Deployment{})
	must.Eventually(w, "renamed to be there", func() error {
		if w.deployment("renamed") == nil {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	w.Succeeds("op.v1")
}

// TestSubscriptionConfig: everything that a Subscription says is there with the first rollout and what it leaves unsaid stays as the
// author wrote it; a change is one more rollout.
func TestSubscriptionConfig(t *testing.T) {
	w := newWorld(t)
	seconds := int64(30)
	authors := corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("10m")}}
	config := &v1alpha1.SubscriptionConfig{
		Env:          []corev1.EnvVar{{Name: "FROM", Value: "subscription"}, {Name: "HTTPS_PROXY", Value: "http://proxy:1"}},
		EnvFrom:      []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
		Volumes:      []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/config"}},
		Tolerations:  []corev1.Toleration{{Key: "example.com/dedicated", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds, Effect: corev1.TaintEffectNoExecute}},
		NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
		Annotations:  map[string]string{"note": "subscription"},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "manager"}}}},
		}}},
	}
	w.Make(&v1alpha1.Subscription{ObjectMeta: w.Named("sub"), Spec: &v1alpha1.SubscriptionSpec{
		Package: "pkg", CatalogSource: "none", CatalogSourceNamespace: w.Namespace, Config: config}})
	w.install(w.operator("op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Annotations = map[string]string{"operatorframework.io/properties": `{"properties":[{"type":"olm.package","value":{"packageName":"pkg","version":"1.0.0"}}]}`}
	}, withDeployments("manager", "helper"), strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		pod := &s.DeploymentSpecs[0].Spec.Template
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "OWN", Value: "author"}, {Name: "FROM", Value: "author"}}
		pod.Spec.Containers[0].Resources = authors
		pod.Annotations = map[string]string{"note": "author"}
	})))
	w.Succeeds("op.v1")
	w.rolledOut("manager", 1)
	d := w.deployment("manager")
	container := d.Spec.Template.Spec.Containers[0]
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	for name, want := range map[string]string{"OWN": "author", "FROM": "subscription", "HTTPS_PROXY": "http://proxy:1", "OPERATOR_CONDITION_NAME": "op.v1"} {
		must.Equal(t, name, env[name], want)
	}
	pod := d.Spec.Template.Spec
	for what, ok := range map[string]bool{
		"envFrom":                         len(container.EnvFrom) == 1 && container.EnvFrom[0].ConfigMapRef.Name == "settings",
		"volumes":                         len(pod.Volumes) == 1 && pod.Volumes[0].EmptyDir != nil,
		"volumeMounts":                    len(container.VolumeMounts) == 1 && container.VolumeMounts[0].MountPath == "/config",
		"tolerations":                     len(pod.Tolerations) == 1 && *pod.Tolerations[0].TolerationSeconds == 30,
		"nodeSelector":                    pod.NodeSelector["kubernetes.io/os"] == "linux",
		"affinity":                        pod.Affinity != nil && pod.Affinity.PodAntiAffinity != nil,
		"annotations":                     d.Annotations["note"] == "subscription",
		"annotations of the author's pod": d.Spec.Template.Annotations["note"] == "author",
		"the author's resources":          container.Resources.Requests.Cpu().String() == "10m",
		"the same for the second":         len(w.deployment("helper").Spec.Template.Spec.Containers[0].EnvFrom) == 1,
	} {
		if !ok {
			t.Errorf("%s did not arrive as wanted: %+v", what, d.Spec.Template)
		}
	}

	// A change is one more rollout: here of the Deployments that the selector means, and of those that it no longer means.
	edit(w, "sub", &v1alpha1.Subscription{}, func(s *v1alpha1.Subscription) {
		s.Spec.Config = &v1alpha1.SubscriptionConfig{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "manager"}},
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("20m")}},
		}
	})
	must.Eventually(w, "the changed configuration to arrive", func() error {
		if got := w.deployment("manager").Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "20m" {
			return fmt.Errorf("cpu is %s", got)
		}
		if got := w.deployment("helper").Spec.Template.Spec.Containers[0]; len(got.EnvFrom) != 0 || got.Resources.Requests.Cpu().String() != "0" {
			return fmt.Errorf("helper has %v, %v", got.EnvFrom, got.Resources)
		}
		return nil
	})
	w.Succeeds("op.v1")
	w.rolledOut("manager", 2)
	w.rolledOut("helper", 2)
}
