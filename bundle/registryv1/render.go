package registryv1

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/bundle"
)

// CertificateProvider says who makes the serving certificates of webhooks and aggregated APIs.
type CertificateProvider string

const (
	// BuiltIn leaves certificates to the caller: Rendered.Serving lists the Secrets that are needed. It is what an empty
	// CertificateProvider means.
	BuiltIn CertificateProvider = "BuiltIn"
	// CertManager renders an Issuer and a Certificate of cert-manager for each Deployment that serves.
	CertManager CertificateProvider = "CertManager"
	// ServiceCA lets the service-ca operator of OpenShift make them, by annotations.
	ServiceCA CertificateProvider = "ServiceCA"
)

// Options are what rendering depends on besides the bundle.
type Options struct {
	// Namespace is where the operator is installed.
	Namespace string
	// Config is spec.config.inline of the ClusterExtension, nil when there is none.
	Config json.RawMessage
	// Certificates says who makes serving certificates; empty means BuiltIn.
	Certificates CertificateProvider
	// CA gives, with BuiltIn certificates, what clients of the Services in front of a Deployment trust, in PEM form. Where it
	// is nil or gives nothing, no object has a caBundle, so that another field manager can own that field and renew it
	// without the objects of a revision changing.
	CA func(deployment string) []byte
	// OperatorCondition is the name of the OperatorCondition through which the operator says whether it can be upgraded; empty means
	// that it has none. The OperatorCondition is one of the Objects, and its name is the value of OPERATOR_CONDITION_NAME in all
	// containers. Give every revision of an extension the same name, and ask the live object's condition Upgradeable before a new
	// version is rolled out; the controller of OperatorConditions lets the operator's service accounts write to it.
	OperatorCondition string
}

// Rendered is a bundle as objects.
type Rendered struct {
	// Objects are always in the same order: ServiceAccounts, Roles and RoleBindings, ClusterRoles and ClusterRoleBindings,
	// CRDs, the other manifests of the bundle, Deployments, webhook configurations, Services, and what makes certificates.
	Objects []*unstructured.Unstructured
	// Serving are, with BuiltIn certificates, the Secrets that the caller has to make and to renew.
	Serving []Serving
	// Properties is the JSON list of the properties in the annotation olm.properties and in the metadata of the bundle; nil
	// when there are none.
	Properties json.RawMessage
	// WatchNamespaces are the namespaces that the operator watches, sorted; the only one is "" when it watches all.
	WatchNamespaces []string
}

// Serving is a certificate that the pods of a Deployment need.
type Serving struct {
	Deployment string
	// Service is the Service in front of the pods, in the namespace of the installation as the Secret is.
	Service string
	// Secret is to be of type kubernetes.io/tls, with the keys tls.crt and tls.key.
	Secret string
	// Hosts are the DNS names that the certificate has to be valid for.
	Hosts []string
}

// Render returns the objects of a bundle. Its errors are a *ConfigError for a configuration that the bundle does not
// take, and an *InvalidError for a bundle that cannot be installed; both stay as long as neither changes.
func Render(b *bundle.Bundle, o Options) (*Rendered, error) {
	r, err := newRenderer(b, o)
	if err != nil {
		return nil, err
	}
	out := &Rendered{WatchNamespaces: r.Targets}
	if r.options.Certificates == BuiltIn {
		for _, deployment := range bundle.ServingDeployments(r.CSV) {
			out.Serving = append(out.Serving, Serving{
				Deployment: deployment,
				Service:    bundle.ServingServiceName(deployment),
				Secret:     bundle.ServingSecretName(deployment),
				Hosts:      bundle.ServingHosts(deployment, o.Namespace),
			})
		}
	}
	if out.Properties, err = propertiesOf(b); err != nil {
		return nil, err
	}
	if out.Objects, err = r.objects(); err != nil {
		return nil, err
	}
	if err := bundle.Writable(out.Objects); err != nil {
		return nil, &InvalidError{Bundle: b.Name, Problems: []error{err}}
	}
	return out, nil
}

// propertiesOf is the JSON list of the properties in the annotation of the ClusterServiceVersion, followed by those in the metadata of the
// bundle; nil when there are none.
func propertiesOf(b *bundle.Bundle) (json.RawMessage, error) {
	properties, err := annotatedProperties(b)
	if err != nil {
		return nil, fmt.Errorf("read annotation %s of bundle %s: %w", propertiesAnnotation, b.Name, err)
	}
	if properties = append(properties, b.Properties...); len(properties) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(properties); err != nil {
		return nil, fmt.Errorf("write the properties of bundle %s: %w", b.Name, err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
