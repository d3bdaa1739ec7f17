package grpccatalog

import (
	corev1 "k8s.io/api/core/v1"
)

// Settings are the same for all catalogs of a manager.
type Settings struct {
	// OpmImage serves content that was taken out of an image.
	OpmImage string
	// UtilImage holds /bin/cp and /bin/copy-content, with which content is taken out of an image.
	UtilImage string
	// RunAsUser is the user of restricted pods; 0 leaves it to the image.
	RunAsUser int64
	// GlobalNamespace holds the catalogs that pods of all namespaces may read.
	GlobalNamespace string
	// ManagerNamespace is the namespace of the manager's pod; empty where the manager is in none.
	ManagerNamespace string
}

// Observed is what the wanted objects depend on besides the CatalogSource and the Settings.
type Observed struct {
	// NamespaceLabels are the labels of the catalog's namespace.
	NamespaceLabels map[string]string
	// PullSecrets are those of the service account that the pod runs as.
	PullSecrets []corev1.LocalObjectReference
	// RegistryDigest is what the registry says that the image is; empty is unknown.
	RegistryDigest string
}
