package registryv1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/bundle"
)

// Annotations with which cert-manager and the service-ca operator are asked for certificates and CA bundles.
const (
	certManagerInjectAnnotation = "cert-manager.io/inject-ca-from"
	serviceCACertAnnotation     = "service.beta.openshift.io/serving-cert-secret-name"
	serviceCAInjectAnnotation   = "service.beta.openshift.io/inject-cabundle"
)

// Annotations that both leave on the Secrets that they make.
const (
	certManagerNameAnnotation = "cert-manager.io/certificate-name"
	serviceCANameAnnotation   = "service.beta.openshift.io/originating-service-name"
)

// Certificates of cert-manager are valid for two years and renewed a day before they end.
const (
	certDuration    = "17520h0m0s"
	certRenewBefore = "24h0m0s"
	// maxCommonName is the length of the longest common name that certificates can have.
	maxCommonName = 64
)

const certManagerGroup = "cert-manager.io"

// injectCA has others write the authority of the certificate of a Service into an object with clients of it.
func (r *renderer) injectCA(object metav1.Object, service string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	switch r.options.Certificates {
	case CertManager:
		annotations[certManagerInjectAnnotation] = r.options.Namespace + "/" + service + "-cert"
	case ServiceCA:
		annotations[serviceCAInjectAnnotation] = "true"
	default:
		return
	}
	object.SetAnnotations(annotations)
}

// certificates are, for cert-manager, an Issuer and a Certificate for each Deployment that serves.
func (r *renderer) certificates() ([]runtime.Object, error) {
	if r.options.Certificates != CertManager {
		return nil, nil
	}
	var out []runtime.Object
	for _, deployment := range bundle.ServingDeployments(r.CSV) {
		name := bundle.ServingSecretName(deployment)
		issuer := name + "-selfsigned-issuer"
		hosts := bundle.ServingHosts(deployment, r.options.Namespace)
		names := make([]any, len(hosts))
		for i, host := range hosts {
			names[i] = host
		}
		spec := map[string]any{
			"secretName":  name,
			"dnsNames":    names,
			"usages":      []any{"server auth"},
			"isCA":        false,
			"duration":    certDuration,
			"renewBefore": certRenewBefore,
			"issuerRef":   map[string]any{"group": certManagerGroup, "kind": "Issuer", "name": issuer},
		}
		if len(hosts[0]) <= maxCommonName {
			spec["commonName"] = hosts[0]
		}
		for _, o := range []struct {
			kind, name string
			spec       map[string]any
		}{{"Issuer", issuer, map[string]any{"selfSigned": map[string]any{}}}, {"Certificate", name, spec}} {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": o.spec}}
			object.SetAPIVersion(certManagerGroup + "/v1")
			object.SetKind(o.kind)
			object.SetNamespace(r.options.Namespace)
			object.SetName(o.name)
			out = append(out, object)
		}
	}
	return out, nil
}

// MadeElsewhere reports whether a Secret was made for a serving certificate by cert-manager or by service-ca, as Render has them do it.
func MadeElsewhere(secret metav1.Object, s Serving) bool {
	annotations := secret.GetAnnotations()
	return annotations[certManagerNameAnnotation] == s.Secret || annotations[serviceCANameAnnotation] == s.Service
}
