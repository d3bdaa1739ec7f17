package clusterextension

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/ops"
)

// fieldOwner is the field manager of revisions and of what else the controller writes.
const fieldOwner = client.FieldOwner(olmv1.GroupName + "/clusterextension-controller")

const prefix = olmv1.SettingsPrefix

// Annotations on a ClusterExtension.
const (
	// InstallDependenciesKey set to "true" installs what the bundle needs, each as a ClusterExtension of its own.
	InstallDependenciesKey = prefix + "install-dependencies"
)

// Annotations on a revision.
const (
	// verificationKey says why the signature policy let the bundle of the revision be used, as JSON.
	verificationKey = image.OutcomeKey
	// authoritiesKey identifies the certificate CA certificates that the objects of the revision trust.
	authoritiesKey = prefix + "authorities"
	// servingKey lists the serving certificates that the pods of the revision need, as JSON.
	servingKey = prefix + "serving-certificates"
	// conditionKey says who may write the OperatorCondition of the extension, as JSON.
	conditionKey = prefix + "operator-condition"
	// adoptedKey is the ClusterServiceVersion whose objects the revision has adopted as they were found.
	adoptedKey = prefix + "adopted"
)

// requiredByKey is the annotation of a ClusterExtension that was made for the needs of another one: the name of that.
const requiredByKey = ops.RequiredByKey

// dependencyLabel is the label of such a ClusterExtension.
const dependencyLabel = ops.DependencyLabel

// takenOverKey is the annotation of a Secret with a Helm release that has become the first revision of a ClusterExtension: the UID of that. It is
// not adopted again, whatever becomes of the extension.
const takenOverKey = prefix + "taken-over-by"

// servingLabel is the label of Secrets with serving certificates.
const servingLabel = prefix + "serving-certificate"
