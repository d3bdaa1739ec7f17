package v1

// Labels and annotations on the kinds of this package and on what they apply.
const (
	// OwnerKindKey is the label with the kind of the owner of an applied object.
	OwnerKindKey = GroupName + "/owner-kind"
	// OwnerNameKey is the label with the name of the owner of an applied object.
	OwnerNameKey = GroupName + "/owner-name"
	// PackageNameKey is the annotation with the package that a revision or object comes from.
	PackageNameKey = GroupName + "/package-name"
	// BundleNameKey is the annotation with the bundle that a revision comes from.
	BundleNameKey = GroupName + "/bundle-name"
	// BundleVersionKey is the annotation with the version of the bundle that a revision or object comes from.
	BundleVersionKey = GroupName + "/bundle-version"
	// BundleReferenceKey is the annotation with the image of the bundle that a revision comes from.
	BundleReferenceKey = GroupName + "/bundle-reference"
	// BundleReleaseKey is the annotation with the release of the bundle that a revision comes from.
	BundleReleaseKey = GroupName + "/bundle-release"
	// RevisionNameKey is the label of the Secrets that hold the objects of a revision.
	RevisionNameKey = GroupName + "/revision-name"
	// MigratedFromHelmKey is the label of revisions that were made from a Helm release.
	MigratedFromHelmKey = GroupName + "/migrated-from-helm"
	// MetadataNameKey is the label of a ClusterCatalog with its own name.
	MetadataNameKey = GroupName + "/metadata.name"
	// PropertiesKey is the annotation with the properties of a bundle, as JSON.
	PropertiesKey = "olm.properties"

	// GeneratorKey is the annotation of the CRDs that names the set of fields they have.
	GeneratorKey = GroupName + "/generator"
)

// Finalizers.
const (
	// TeardownFinalizer keeps a ClusterObjectSet until its objects are gone.
	TeardownFinalizer = GroupName + "/teardown"
	// CleanupUnpackCacheFinalizer keeps a ClusterExtension until its unpacked bundle is gone.
	CleanupUnpackCacheFinalizer = GroupName + "/cleanup-unpack-cache"
	// CleanupContentManagerCacheFinalizer keeps a ClusterExtension until no one watches its objects any more.
	CleanupContentManagerCacheFinalizer = GroupName + "/cleanup-contentmanager-cache"
)

// SecretTypeObjectData is the type of the Secrets that hold the objects of a ClusterObjectSet.
const SecretTypeObjectData = GroupName + "/object-data"
