package registryv1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Annotations that the products leave on the Secrets that they make.
const (
	certManagerNameAnnotation = "cert-manager.io/certificate-name"
	serviceCANameAnnotation   = "service.beta.openshift.io/originating-service-name"
)

// MadeElsewhere tells whether a Secret was made for a serving certificate by cert-manager or by service-ca, as Render has them do it.
func MadeElsewhere(secret metav1.Object, s Serving) bool {
	annotations := secret.GetAnnotations()
	return annotations[certManagerNameAnnotation] == s.Secret || annotations[serviceCANameAnnotation] == s.Service
}
