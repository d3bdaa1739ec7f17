package clusterextension

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// annotated sets an annotation.
func annotated(key, value string) func(*olmv1.ClusterExtension) {
	return func(e *olmv1.ClusterExtension) {
		if e.Annotations == nil {
			e.Annotations = map[string]string{}
		}
		if e.Annotations[key] = value; value == "" {
			delete(e.Annotations, key)
		}
	}
}

// TestRollback goes back to a revision by its number, without the catalog, and forward again without the annotation.
func TestRollback(t *testing.T) {
	w := newWorld(t)
	all := three(w.name)
	w.publish(all...)
	w.extend(w.name, w.name, version("1.0.0"))
	w.installed(w.name, all[0].name())
	w.change(w.name, version("1.1.0"))
	w.installed(w.name, all[1].name())
	w.gone(w.configMap(w.name + "-1.0.0"))
	w.change(w.name, annotated("operators.fairlead.dev/rollback-to", "1"))
	w.installed(w.name, all[0].name())
	w.there(w.configMap(w.name + "-1.0.0"))
	w.gone(w.configMap(w.name + "-1.1.0"))
	w.change(w.name, annotated("operators.fairlead.dev/rollback-to", ""))
	w.installed(w.name, all[1].name())
}

// TestDependencies are installed where that is wanted, and go with the last one that needs them.
func TestDependencies(t *testing.T) {
	w := newWorld(t)
	db := w.name + "-db"
	o := operator{pkg: w.name, version: "1.0.0", properties: fmt.Sprintf(`,{"type":"olm.package.required","value":{"packageName":%q,"versionRange":">=1.0.0"}}`, db)}
	w.publish(o, operator{pkg: db, version: "1.0.0"})
	w.extend(w.name, w.name)
	w.says(w.name, "Progressing", "True", "Retrying", "kind: ClusterExtension")
	w.change(w.name, annotated("operators.fairlead.dev/install-dependencies", "true"))
	w.installed(w.name, o.name())
	w.installed(db, db+".v1.0.0")
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: db}})
}

// TestServiceAccount lacks permissions, which are listed before anything is written, and gets them by the command that the status carries.
func TestServiceAccount(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "installer"}})
	w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) {
		e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "installer"}
	})
	w.says(w.name, "Progressing", "True", "Retrying", "pre-authorization failed: service account requires the following permissions to manage cluster extension")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(w.deployment(w.name)), w.deployment(w.name)); !apierrors.IsNotFound(err) || len(w.revisions(w.name)) != 0 {
		t.Errorf("something was written: %v, %d revisions", err, len(w.revisions(w.name)))
	}
	_, command, _ := strings.Cut(meta.FindStatusCondition(w.extension(w.name).Status.Conditions, "Progressing").Message, "printf %s '")
	command, kubectl, _ := strings.Cut(command, "'")
	var granted unstructured.UnstructuredList
	if err := granted.UnmarshalJSON([]byte(command)); err != nil || kubectl != " | kubectl auth reconcile -f -" {
		t.Fatalf("%v in the command %s%s", err, command, kubectl)
	}
	for i := range granted.Items {
		w.create(&granted.Items[i])
	}
	w.installed(w.name, o.name())
	w.change(w.name, func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = nil })
	w.installed(w.name, o.name())
}

// TestServingCertificate is made without any other product: the webhook configuration and the conversion webhook of the CRD trust it.
func TestServingCertificate(t *testing.T) {
	w := newWorld(t)
	crdName := "things." + w.name + ".example.com"
	hook := func(kind string) string {
		more := fmt.Sprintf(`"rules":[{"apiGroups":["%s.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}],"failurePolicy":"Ignore"`, w.name)
		if kind == "ConversionWebhook" {
			more = fmt.Sprintf(`"conversionCRDs":[%q]`, crdName)
		}
		return fmt.Sprintf(`{"type":%q,"generateName":"%s.%s.example.com","deploymentName":%q,"containerPort":443,"targetPort":9443,"sideEffects":"None","admissionReviewVersions":["v1"],"webhookPath":"/x",%s}`,
			kind, strings.ToLower(kind[:3]), w.name, w.name, more)
	}
	o := operator{pkg: w.name, version: "1.0.0", files: map[string]string{"crd": crd("thing", w.name, "a thing")},
		csv: fmt.Sprintf(`,"customresourcedefinitions":{"owned":[{"name":%q,"version":"v1","kind":"Thing"}]},"webhookdefinitions":[%s]`, crdName,
			strings.Join([]string{hook("ValidatingAdmissionWebhook"), hook("MutatingAdmissionWebhook"), hook("ConversionWebhook")}, ","))}
	w.publish(o)
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
	var bundles [][]byte
	var validating admissionv1.ValidatingWebhookConfigurationList
	must.NoError(w, w.List(t.Context(), &validating, client.MatchingLabels{olmv1.OwnerNameKey: w.name}))
	for _, c := range validating.Items {
		bundles = append(bundles, c.Webhooks[0].ClientConfig.CABundle)
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	must.NoError(w, w.List(t.Context(), &mutating, client.MatchingLabels{olmv1.OwnerNameKey: w.name}))
	for _, c := range mutating.Items {
		bundles = append(bundles, c.Webhooks[0].ClientConfig.CABundle)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: crdName}, definition))
	bundles = append(bundles, definition.Spec.Conversion.Webhook.ClientConfig.CABundle)
	if len(bundles) != 3 {
		t.Fatalf("there are %d webhooks", len(bundles))
	}
	d := w.deployment(w.name)
	w.there(d)
	var secret corev1.Secret
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: w.name, Name: v.Secret.SecretName}, &secret))
		}
	}
	pair := must.Value(tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"]))(w)
	leaf := must.Value(x509.ParseCertificate(pair.Certificate[0]))(w)
	for i, ca := range bundles {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(ca)
		host := validating.Items[0].Webhooks[0].ClientConfig.Service.Name + "." + w.name + ".svc"
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("webhook %d does not trust the certificate of the pods: %v", i, err)
		}
	}
	must.NoError(w, w.Delete(t.Context(), w.extension(w.name)))
	w.gone(definition)
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.gone(&secret)
}

// TestBadImage is told, and a spec that asks for something else is acted on at once.
func TestBadImage(t *testing.T) {
	w := newWorld(t)
	good, bad := operator{pkg: w.name, version: "1.0.0"}, operator{pkg: w.name, version: "1.1.0", replaces: "1.0.0", missing: true}
	w.publish(good, bad)
	w.extend(w.name, w.name)
	w.says(w.name, "Progressing", "True", "Retrying", "v1.1.0")
	w.change(w.name, version("1.0.0"))
	w.installed(w.name, good.name())
}

// TestQuick bounds the time from a ClusterExtension to its operator running, generously: two seconds are the aim on an idle machine.
func TestQuick(t *testing.T) {
	w := newWorldAlone(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	w.until("content", func() (bool, string) {
		c := &olmv1.ClusterCatalog{}
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: w.name}, c))
		return meta.IsStatusConditionTrue(c.Status.Conditions, olmv1.TypeServing), fmt.Sprint(c.Status.Conditions)
	})
	began := time.Now()
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	} else {
		t.Logf("installed and available after %s", took)
	}
}
