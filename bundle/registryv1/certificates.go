package registryv1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/bundle"
)

// Annotations with which cert-manager and the service-ca operator are asked for certificates and authorities.
const (
	certManagerInjectAnnotation = "cert-manager.io/inject-ca-from"
	serviceCACertAnnotation     = "service.beta.openshift.io/serving-cert-secret-name"
	serviceCAInjectAnnotation   = "service.beta.openshift.io/inject-cabundle"
)

// Certificates of cert-manager are valid for two years and renewed a day before they end.
const (
	certDuration    = "17520h0m0s"
	certRenewBefore = "24h0m0s"
	// maxCommonName is the length of the longest common name that certificates can have.
	maxCommonName = 64
)

const certManagerGroup = "cert-manager.io"

// servingCerts are the certificates that Deployments need. Their authorities are known where we make them.
func (r *renderer) servingCerts() map[string]bundle.ServingCert {
	out := map[string]bundle.ServingCert{}
	for _, deployment := range bundle.ServingDeployments(r.csv) {
		cert := bundle.ServingCert{Secret: bundle.ServingSecretName(deployment)}
		if r.options.Certificates == BuiltIn && r.options.CA != nil {
			cert.CA = r.options.CA(deployment)
		}
		out[deployment] = cert
	}
	return out
}

// serving are the Secrets that are left to the caller.
func (r *renderer) serving() []Serving {
	if r.options.Certificates != BuiltIn {
		return nil
	}
	var out []Serving
	for _, deployment := range bundle.ServingDeployments(r.csv) {
		out = append(out, Serving{
			Deployment: deployment,
			Service:    bundle.ServingServiceName(deployment),
			Secret:     bundle.ServingSecretName(deployment),
			Hosts:      bundle.ServingHosts(deployment, r.options.Namespace),
		})
	}
	return out
}

// injectCA has others write the authority of the certificate of a Service into an object with clients of it.
func (r *renderer) injectCA(object metav1.Object, service string) {
	switch r.options.Certificates {
	case CertManager:
		annotate(object, certManagerInjectAnnotation, r.options.Namespace+"/"+service+"-cert")
	case ServiceCA:
		annotate(object, serviceCAInjectAnnotation, "true")
	}
}

// makeCert has service-ca make the certificate of a Service.
func (r *renderer) makeCert(service *corev1.Service) {
	if r.options.Certificates == ServiceCA {
		annotate(service, serviceCACertAnnotation, service.Name+"-cert")
	}
}

func annotate(object metav1.Object, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// certificates are, for cert-manager, an Issuer and a Certificate for each Deployment that serves.
func (r *renderer) certificates() ([]runtime.Object, error) {
	if r.options.Certificates != CertManager {
		return nil, nil
	}
	var out []runtime.Object
	for _, deployment := range bundle.ServingDeployments(r.csv) {
		name := bundle.ServingSecretName(deployment)
		issuer := name + "-selfsigned-issuer"
		hosts := bundle.ServingHosts(deployment, r.options.Namespace)
		spec := map[string]any{
			"secretName":  name,
			"dnsNames":    anyList(hosts),
			"usages":      []any{"server auth"},
			"isCA":        false,
			"duration":    certDuration,
			"renewBefore": certRenewBefore,
			"issuerRef":   map[string]any{"group": certManagerGroup, "kind": "Issuer", "name": issuer},
		}
		if len(hosts[0]) <= maxCommonName {
			spec["commonName"] = hosts[0]
		}
		out = append(out,
			r.certManagerObject("Issuer", issuer, map[string]any{"selfSigned": map[string]any{}}),
			r.certManagerObject("Certificate", name, spec),
		)
	}
	return out, nil
}

func (r *renderer) certManagerObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetAPIVersion(certManagerGroup + "/v1")
	out.SetKind(kind)
	out.SetNamespace(r.options.Namespace)
	out.SetName(name)
	return out
}

func anyList(texts []string) []any {
	out := make([]any, 0, len(texts))
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}
