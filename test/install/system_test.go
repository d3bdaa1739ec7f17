package install

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSystem installs the manager by the command, upgrades it, removes it beside an operator that runs on, installs it again, and removes everything.
func TestSystem(t *testing.T) {
	w := ownWorld(t)
	everything := w.everything()
	w.refusedBesideAnother()
	w.says(w.system(command.ExitOK, "install", "--image", systemImage, "--console"), "CustomResourceDefinitions: 11 created", "Deployment olm/fairlead-manager is available", "The manager is installed in namespace olm")
	w.there("Service", "fairlead-console", true)
	stop := w.run(w.asManager())
	csv := w.operator()
	deployment := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name
	before := w.operatorObjects(deployment)
	w.healthy()
	w.says(w.system(command.ExitOK, "install", "--image", systemImage, "--console"), "CustomResourceDefinitions: 11 unchanged", "manager: 6 unchanged")

	w.upgrades()
	w.healthy()
	w.refusesADowngrade()

	w.says(w.system(command.ExitNo, "uninstall"), "Remove the manager? [y/N]", "Nothing was removed.")
	w.says(w.system(command.ExitOK, "uninstall", "--dry-run"), "Stays:", "ClusterServiceVersion: operators/greeter-operator.v1.1.0")
	w.stopsWhenScaled(stop)
	w.says(w.system(command.ExitOK, "uninstall", "--yes"), "the manager has stopped", "the manager is removed")
	w.there("Deployment", "fairlead-manager", false)
	must.Equal(t, "the operator without a manager", w.operatorObjects(deployment), before)
	w.says(w.system(command.ExitNo, "uninstall", "--yes"), "nothing of it was installed by fairlead system")
	w.adoptsOfKubectl()

	w.says(w.system(command.ExitOK, "install", "--image", systemImage), "CustomResourceDefinitions: 11 unchanged", "namespaces: 2 unchanged", "OLMConfig and OperatorGroups: 3 unchanged")
	stop = w.run(w.asManager())
	w.packageIsShown("greeter-operator")
	must.Equal(t, "the operator with the manager that came back", w.operatorObjects(deployment), before)
	w.healthy()

	w.stopsWhenScaled(stop)
	w.says(w.system(command.ExitOK, "uninstall", "--delete-crds", "--yes"), "1 ClusterServiceVersion deleted", "11 CustomResourceDefinitions deleted", "the manager is removed")
	for _, name := range []string{"olm", "operators"} { // as it says
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		must.NoError(t, w.Delete(t.Context(), namespace))
		w.gone(namespace)
	}
	for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
		must.NoError(t, w.Delete(t.Context(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: owned.Name}}))
	}
	must.Eventually(t, "the cluster to be as it was", func() error {
		var left []string
		for what := range w.everything() {
			if !everything[what] {
				left = append(left, what)
			}
		}
		if slices.Sort(left); len(left) > 0 {
			return fmt.Errorf("%q is left", left)
		}
		return nil
	})
}

// system runs fairlead system with arguments, which has to end with an exit code, and returns what it says.
func (w *world) system(want int, args ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(w.t.Context(), append([]string{"system", args[0], "--kubeconfig", w.kubeconfig}, args[1:]...), strings.NewReader(""), &out, &errs)
	text := out.String() + errs.String()
	w.t.Logf("$ fairlead system %s\n%s", strings.Join(args, " "), text)
	if code != want {
		w.t.Fatalf("fairlead system %s: exit code %d, want %d:\n%s", strings.Join(args, " "), code, want, text)
	}
	return text
}

// says checks what a command has said.
func (w *world) says(text string, wanted ...string) {
	w.t.Helper()
	for _, want := range wanted {
		must.Contain(w.t, "what the command says", text, want)
	}
}

// there checks whether an object of the namespace olm is there.
func (w *world) there(kind, name string, want bool) {
	w.t.Helper()
	var o client.Object = &corev1.Service{}
	if kind == "Deployment" {
		o = &appsv1.Deployment{}
	}
	err := w.Get(w.t.Context(), client.ObjectKey{Namespace: "olm", Name: name}, o)
	if client.IgnoreNotFound(err) != nil || apierrors.IsNotFound(err) == want {
		w.t.Errorf("%s %s is there: %v; want %t", kind, name, err, want)
	}
}

// refusedBesideAnother installs where another lifecycle manager works, in vain.
func (w *world) refusedBesideAnother() {
	w.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "operator-lifecycle-manager"}}
	labels := map[string]string{"app": "olm-operator"}
	rival := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "olm-operator"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "olm", Image: "quay.io/operator-framework/olm:v0.30.0"}}}}}}
	w.create(namespace, rival)
	w.says(w.system(command.ExitNo, "install", "--image", systemImage), "Deployment operator-lifecycle-manager/olm-operator: another lifecycle manager works on the v0 API", "--apis v1")
	must.NoError(w.t, w.Delete(w.t.Context(), namespace))
	w.gone(namespace)
}

// operator installs one, by the manager that runs.
func (w *world) operator() *v1alpha1.ClusterServiceVersion {
	w.t.Helper()
	w.create(source("samples", ofImage(w.catalog("1.1.0"))), &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: operatorsNamespace, Name: "greeter"},
		Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", CatalogSource: "samples", CatalogSourceNamespace: "olm"}})
	csv := w.succeeds(operatorsNamespace, "greeter-operator.v1.1.0")
	w.packageIsShown("greeter-operator")
	return csv
}

// healthy waits until fairlead doctor finds nothing wrong.
func (w *world) healthy() {
	w.t.Helper()
	must.Eventually(w.t, "fairlead doctor to find nothing wrong", func() error {
		if code, out := w.doctor(w.kubeconfig); code != command.ExitOK {
			return fmt.Errorf("exit code %d:\n%s", code, out)
		}
		return nil
	})
}

// upgrades goes to another image without the console, scaled, and then goes on with what is there.
func (w *world) upgrades() {
	w.t.Helper()
	w.says(w.system(command.ExitNo, "install", "--image", systemImage, "--manager-namespace", "elsewhere"), "the manager of this cluster is in namespace olm")
	image := strings.Replace(systemImage, ":v1", ":v2", 1)
	w.says(w.system(command.ExitOK, "upgrade", "--image", image, "--console=false", "--replicas", "3"), "Service olm/fairlead-console goes when the manager is available", "Service fairlead-console is removed", "The manager is upgraded")
	w.there("Service", "fairlead-console", false)
	for range 2 {
		d := &appsv1.Deployment{}
		must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKey{Namespace: "olm", Name: "fairlead-manager"}, d))
		must.Equal(w.t, "image", d.Spec.Template.Spec.Containers[0].Image, image)
		must.Equal(w.t, "replicas", *d.Spec.Replicas, int32(3))
		must.Lack(w.t, "arguments", strings.Join(d.Spec.Template.Spec.Containers[0].Args, " "), "--console")
		w.says(w.system(command.ExitOK, "upgrade", "--image", image), "manager: 5 unchanged")
	}
}

// adoptsOfKubectl goes from the manifests that kubectl has applied to the command, and removes what it then has.
func (w *world) adoptsOfKubectl() {
	w.t.Helper()
	harness.Apply(w.t.Context(), w.t, w, harness.Kustomized(w.t, config))
	w.says(w.system(command.ExitNo, "install", "--image", systemImage), "a manager is installed already, by other means: fairlead system upgrade")
	w.says(w.system(command.ExitNo, "uninstall", "--yes"), "fairlead system has not installed it")
	w.says(w.system(command.ExitOK, "upgrade", "--image", systemImage), "manager: 5 configured", "Deployment olm/fairlead-manager is available")
	w.says(w.system(command.ExitOK, "uninstall", "--yes"), "the manager is removed")
	for _, o := range harness.Kustomized(w.t, config) {
		if err := w.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); o.GetKind() != "Namespace" && !apierrors.IsNotFound(err) {
			w.t.Errorf("%s %s is left: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// refusesADowngrade gives a definition a field that this program does not know.
func (w *world) refusesADowngrade() {
	w.t.Helper()
	d := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w.t, w.Get(w.t.Context(), client.ObjectKey{Name: "olmconfigs.operators.coreos.com"}, d))
	d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["later"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	must.NoError(w.t, w.Update(w.t.Context(), d))
	w.says(w.system(command.ExitNo, "upgrade", "--image", systemImage), "this would be a downgrade, which loses: CustomResourceDefinition olmconfigs.operators.coreos.com: spec.later of version v1")
	w.says(w.system(command.ExitOK, "upgrade", "--image", systemImage, "--allow-downgrade"), "downgrade: CustomResourceDefinition olmconfigs.operators.coreos.com", "CustomResourceDefinitions: 1 configured, 10 unchanged")
}

// stopsWhenScaled lets the manager of the test stand for that in the pods: it stops when its Deployment is scaled to 0, and as long as it has not, neither have
// the pods.
func (w *world) stopsWhenScaled(stop func()) {
	w.t.Helper()
	const running = "test.fairlead.dev/running"
	change := func(ctx context.Context, finalizers []string) error {
		var pods corev1.PodList
		if err := w.List(ctx, &pods, client.InNamespace("olm"), client.MatchingLabels{"app": "fairlead-manager"}); err != nil {
			return err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			before := pod.DeepCopy()
			pod.Finalizers = finalizers
			if err := client.IgnoreNotFound(w.Patch(ctx, pod, client.MergeFrom(before))); err != nil {
				return err
			}
		}
		return nil
	}
	must.NoError(w.t, change(w.t.Context(), []string{running}))
	ended := make(chan error, 1)
	ctx := w.t.Context()
	go func() {
		for {
			d := &appsv1.Deployment{}
			err := w.Get(ctx, client.ObjectKey{Namespace: "olm", Name: "fairlead-manager"}, d)
			if err != nil || *d.Spec.Replicas == 0 {
				stop()
				ended <- change(context.WithoutCancel(ctx), nil)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	w.t.Cleanup(func() {
		if err := <-ended; err != nil {
			w.t.Errorf("let the pods of the manager end: %v", err)
		}
	})
}
