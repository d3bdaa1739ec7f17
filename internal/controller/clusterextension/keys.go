package clusterextension

import (
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/dependents"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of revisions and of what else the controller writes.
const fieldOwner = client.FieldOwner(olmv1.GroupName + "/clusterextension-controller")

const prefix = olmv1.SettingsPrefix

// Annotations on a ClusterExtension.
const (
	// InstallDependenciesKey set to "true" installs what the bundle needs, each as a ClusterExtension of its own.
	InstallDependenciesKey = prefix + "install-dependencies"
	// OnFailureKey set to OnFailureRollback goes back to what was installed when the roll-out of an upgrade fails.
	OnFailureKey = revision.OnFailureKey
	// RollbackToKey is the number of the revision whose objects are to be installed, whatever the catalogs say.
	RollbackToKey = prefix + "rollback-to"
	// CRDExemptionsKey lists what the checks of CRD upgrades let pass: "CHECK [CRD [PATH]]", separated by semicolons.
	CRDExemptionsKey = revision.ExemptionsKey
	// AdoptsKey names a ClusterServiceVersion of the extension's namespace: the first revision takes over what that has installed.
	AdoptsKey = migrate.AdoptsKey
)

// OnFailureRollback is the value of OnFailureKey.
const OnFailureRollback = revision.OnFailureRollback

// Annotations on a revision.
const (
	// inputsKey identifies what the revision was made from: while that stays the same, nothing is fetched or rendered.
	inputsKey = prefix + "inputs"
	// propertiesKey holds the properties that the catalog had of the bundle, as JSON: what it needs and provides has to be known without
	// the catalog, too. The annotation olm.properties has only those that its author wrote down.
	propertiesKey = snapshot.PropertiesKey
	// contentKey is the digest of the catalog that holds the manifests of the bundle, where that has no image.
	contentKey = revision.ContentKey
	// verificationKey says why the signature policy let the bundle of the revision be used, as JSON.
	verificationKey = image.OutcomeKey
	// generationKey is the generation of the ClusterExtension that the revision was made for.
	generationKey = prefix + "generation"
	// providerKey says who makes the serving certificates of the revision.
	providerKey = prefix + "certificate-provider"
	// authoritiesKey identifies the certificate authorities that the objects of the revision trust.
	authoritiesKey = prefix + "authorities"
	// servingKey lists the serving certificates that the pods of the revision need, as JSON.
	servingKey = prefix + "serving-certificates"
	// conditionKey says who may write the OperatorCondition of the extension, as JSON.
	conditionKey = prefix + "operator-condition"
	// conditionNameKey is the name of the OperatorCondition which the pods of the revision know, where that is not the extension's.
	conditionNameKey = revision.ConditionNameKey
	// adoptedKey is the ClusterServiceVersion whose objects the revision has taken over as they were found.
	adoptedKey = prefix + "adopted"
	// failedKey is what a revision was made from whose roll-out failed, so that this one was made to go back; failedNameKey is its name.
	failedKey     = prefix + "failed-inputs"
	failedNameKey = prefix + "failed-revision"
	// copyKey is the name of the revision that this one repeats.
	copyKey = prefix + "copy-of"
)

// requiredByKey is the annotation of a ClusterExtension that was made for the needs of another one: the name of that.
const requiredByKey = dependents.RequiredByKey

// dependencyLabel is the label of such a ClusterExtension.
const dependencyLabel = dependents.Label

// takenOverKey is the annotation of a Secret with a Helm release that has become the first revision of a ClusterExtension: the UID of that. It is
// not taken over again, whatever becomes of the extension.
const takenOverKey = prefix + "taken-over-by"

// servingLabel is the label of Secrets with serving certificates.
const servingLabel = prefix + "serving-certificate"
