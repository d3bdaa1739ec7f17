package webhooks

import (
	"context"
	"fmt"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extensible is an operator with all kinds of webhooks as a ClusterExtension has it: their configurations have names of their own in the cluster.
func (w *world) extensible(name, deployment string, changes ...change) *v1alpha1.ClusterServiceVersion {
	changes = append([]change{fixture.Modes("AllNamespaces"), w.owns, fixture.Deployments(deployment), w.hooks(deployment, validating, mutating, converting),
		func(csv *v1alpha1.ClusterServiceVersion) {
			for i := range csv.Spec.WebhookDefinitions {
				hook := &csv.Spec.WebhookDefinitions[i]
				hook.GenerateName = paths[hook.Type][1:] + "." + w.group
			}
		}}, changes...)
	return w.operator(name, changes...)
}

// offer serves versions of the operator from a ClusterCatalog.
func (w *world) offer(versions ...*v1alpha1.ClusterServiceVersion) {
	w.Helper()
	source := olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: w.pushCatalog(w.things(), versions...)}}
	catalog := &olmv1.ClusterCatalog{}
	if w.Read(w.Namespace, catalog) {
		edit(w, w.Namespace, catalog, func(c *olmv1.ClusterCatalog) { c.Spec.Source = source })
		return
	}
	catalog = &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Spec: olmv1.ClusterCatalogSpec{Source: source}}
	w.Make(catalog)
	w.Cleanup(func() { _ = w.Delete(context.WithoutCancel(w.Context()), catalog) })
}

// extended installs the first version of the operator by a ClusterExtension, which goes with the test.
func (w *world) extended(deployment string) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	first := w.extensible("op.v1.0.0", deployment)
	w.offer(first)
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}
	if err := w.Create(w.Context(), system); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Spec: olmv1.ClusterExtensionSpec{Namespace: w.Namespace,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "op",
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: w.Namespace}}}}}}
	w.Make(ext)
	w.Cleanup(func() {
		ctx := context.WithoutCancel(w.Context())
		_ = w.Delete(ctx, ext)
		must.Eventually(w, "the extension to go", func() error {
			switch err := w.Get(ctx, client.ObjectKeyFromObject(ext), ext); {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil:
				return err
			}
			return fmt.Errorf("%+v", ext.Status.Conditions)
		})
	})
	w.has(first.Name)
	return first
}

// has waits until the extension has a version, which works.
func (w *world) has(name string) {
	w.Helper()
	ext := &olmv1.ClusterExtension{}
	must.Eventually(w, name+" to be installed", func() error {
		if !w.Read(w.Namespace, ext) || ext.Status.Install == nil || ext.Status.Install.Bundle.Name != name || len(ext.Status.ActiveRevisions) != 1 ||
			!meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeAvailable) {
			return fmt.Errorf("%+v", ext.Status)
		}
		return nil
	})
}

// TestExtension: things are validated, mutated and converted all the time while a ClusterExtension goes from version to version, and none of
// what clients ask fails: with new pods of the same Deployment, and with another Deployment, which comes up slowly.
func TestExtension(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve("manager")
	first := w.extended("manager")
	works := w.inUse(s)

	image := func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
	}
	before := w.secret("manager-service-cert")
	second := w.extensible("op.v1.1.0", "manager", image)
	w.offer(first, second)
	w.has("op.v1.1.0")
	works.goOn()
	if after := w.secret("manager-service-cert"); string(after.Data["tls.crt"]) != string(before.Data["tls.crt"]) {
		t.Error("the certificate was made anew although it is good")
	}
	if d := w.deployment("manager"); d == nil || d.Spec.Template.Spec.Containers[0].Image != "example.com/manager:2" {
		t.Errorf("the Deployment is %+v", d)
	}
	works.neverFailed()
}

// TestExtensionOtherDeployment: the next version serves its webhooks from another Deployment, which comes up slowly. Until it answers, things are
// converted, validated and mutated by the one before, and no request fails.
func TestExtensionOtherDeployment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, after := w.serve("old"), w.serve("new")
	first := w.extended("old")
	works := w.inUse(before)
	w.offer(first, w.extensible("op.v1.1.0", "new", gated))
	must.Eventually(w, "the new Deployment", func() error {
		if len(w.pods("new")) == 0 {
			return fmt.Errorf("it has no pods")
		}
		return nil
	})
	works.goOn()
	after.unasked()
	w.openGates("new")
	w.has("op.v1.1.0")
	w.conversions(after, "used")
	w.Goes("old-service", &corev1.Service{})
	before.server.Close()
	works.goOn()
	works.neverFailed()
}

// TestExtensionRotation renews the certificate of an extension while its webhooks are asked all the time and an upgrade is held up by the
// operator: the server sees the new certificate, and no request fails. It is not parallel: the clock of the manager is changed.
func TestExtensionRotation(t *testing.T) {
	managers.Set(-behind)
	t.Cleanup(func() { managers.Set(0) })
	w := newWorld(t)
	s := w.serve("manager")
	first := w.extended("manager")
	old := w.secret("manager-service-cert")
	works := w.inUse(s)
	broken := w.extensible("op.v1.1.0", "manager", func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions[0].DeploymentName = "nobody" })
	w.offer(first, broken)
	w.progresses(olmv1.ReasonBlocked)

	w.lookAgain(0)
	must.Eventually(w, "the next certificate to be trusted", func() error { // What of the extension trusts no certificate besides the one that is shown.
		w.Helper()
		all, err := w.registered()
		for name, trusted := range all {
			if len(trusted) <= len(old.Data["ca.crt"]) {
				return fmt.Errorf("%s does not trust the next one", name)
			}
		}
		return err
	})
	w.has("op.v1.0.0")
	works.goOn()
	if s.certificates() != 1 {
		t.Error("the next certificate is shown as soon as it is announced")
	}
	w.lookAgain(2 * time.Minute)
	s.showsAnother()
	works.goOn()
	works.neverFailed()
	must.Empty(t, "the server complains", s.complained())
	if err := w.trustExtended(w.secret("manager-service-cert"), old); err != nil {
		t.Error(err)
	}
	w.progresses(olmv1.ReasonBlocked)
}

// TestExtensionSecret is made again as soon as somebody deletes or damages it, and is trusted then.
func TestExtensionSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extended("manager")
	for what, damage := range map[string]func(){
		"deleted": func() { w.Remove(w.secret("manager-service-cert")) },
		"emptied": func() {
			edit(w, "manager-service-cert", &corev1.Secret{}, func(s *corev1.Secret) { s.Data["tls.crt"] = nil })
		},
	} {
		before := w.secret("manager-service-cert")
		damage()
		must.Eventually(w, "the Secret that was "+what+" to come back, and to be trusted", func() error {
			after := &corev1.Secret{}
			if !w.Read("manager-service-cert", after) || string(after.Data["tls.crt"]) == string(before.Data["tls.crt"]) || len(after.Data["tls.crt"]) == 0 {
				return fmt.Errorf("it is not there, or as before")
			}
			return w.trustExtended(after)
		})
	}
}

// progresses waits until the extension tells of a reason.
func (w *world) progresses(reason string) {
	w.Helper()
	ext := &olmv1.ClusterExtension{}
	must.Eventually(w, "Progressing to be "+reason, func() error {
		w.Read(w.Namespace, ext)
		if c := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing); c == nil || c.Reason != reason {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
}

// lookAgain makes the clock of the manager be right, or ahead of time, and lets it look at the extension.
func (w *world) lookAgain(ahead time.Duration) {
	w.Helper()
	managers.Set(ahead)
	edit(w, w.Namespace, &olmv1.ClusterExtension{}, func(e *olmv1.ClusterExtension) {
		metav1.SetMetaDataAnnotation(&e.ObjectMeta, "example.com/ahead", ahead.String())
	})
}

// registered are the authorities of everything that is registered for the extension.
func (w *world) registered() (map[string][]byte, error) {
	w.Helper()
	v, m, crd := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}, &apiextensionsv1.CustomResourceDefinition{}
	if !w.Read("validate."+w.group, v) || !w.Read("mutate."+w.group, m) || !w.Read("things."+w.group, crd) {
		return nil, fmt.Errorf("not all is registered")
	}
	return map[string][]byte{"validating": v.Webhooks[0].ClientConfig.CABundle, "mutating": m.Webhooks[0].ClientConfig.CABundle,
		"conversion": crd.Spec.Conversion.Webhook.ClientConfig.CABundle}, nil
}

// trustExtended says what of the extension does not trust a certificate.
func (w *world) trustExtended(secrets ...*corev1.Secret) error {
	w.Helper()
	all, err := w.registered()
	for name, trusted := range all {
		for _, secret := range secrets {
			if err := verify(secret, trusted, "manager-service."+w.Namespace+".svc"); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return err
}
