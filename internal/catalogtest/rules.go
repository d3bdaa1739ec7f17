package catalogtest

// RuleHelp is what a rule is about, for those who read of it first in a report.
type RuleHelp struct {
	Rule    Rule
	Title   string // in a few words
	Meaning string // what is wrong, and for whom
	Remedy  string // what the author of the package does
	Advice  bool   // what is worth to be known and may be meant
}

// Rules are all rules, in the order of the page docs/catalog-test.md.
func Rules() []RuleHelp {
	return []RuleHelp{
		{InstallFailed, "the installation fails", "the bundle does not become ready where nothing of it was before",
			"read the message: it is the status of the object that is in the way; install the bundle by itself with fairlead demo --bundles", false},
		{UpgradeFailed, "the upgrade fails", "the bundle does not become ready in the place of the one before",
			"read the message; where the old version cannot go on to this one, remove the edge or upgrade by a version between them", false},
		{NoContent, "a bundle has no content", "the image of the bundle cannot be pulled, or what is in it cannot be read",
			"push the image, correct the reference in the catalog, or correct the manifest that the message names", false},
		{CustomResourceLost, "a custom resource is lost", "a custom resource that was there before the upgrade is gone after it: users lose what they made",
			"keep the CustomResourceDefinition in the bundle, and let the operator delete nothing that it did not make", false},
		{CustomResourceChanged, "a custom resource changes", "the upgrade changes the spec of a custom resource, which belongs to its user; a default that is changed later may do so, and a ClusterExtension is not upgraded",
			"keep every field and every default in the schema; an operator writes status, not spec", false},
		{CustomResourceUnreadable, "a custom resource cannot be read", "a custom resource that was stored before the upgrade cannot be read in a version that the CustomResourceDefinition serves",
			"keep the schemas of the versions compatible, or bring a conversion webhook that answers", false},
		{StoredVersionDropped, "a stored version is dropped", "the CustomResourceDefinition no longer has a version that objects are stored in, so that they could never be read again",
			"serve and store the new version first; drop the old one in a later release, when it is served no more", false},
		{SchemaNarrowed, "a schema is narrowed", "the CustomResourceDefinition no longer allows what it allowed, so that custom resources become invalid or lose fields; or it changes in another way for which a ClusterExtension is not upgraded",
			"let the schema only grow within a version; make what differs a new version", false},
		{DependencyMissing, "a dependency is missing", "nothing in the catalog provides an API or a package that the bundle requires, so that it is installed nowhere",
			"add the package that provides it to the catalog, or take the requirement back", false},
		{TwoHeads, "a channel has not one head", "a Subscription cannot follow a channel unless exactly one entry is neither replaced nor skipped, and the chain of replaces leads from there to all others",
			"let the newest entry replace or skip the others", false},
		{ImmutableSelector, "a selector changes", "a Deployment keeps its name and changes its selector, which Kubernetes forbids: the upgrade stops there until the Deployment is deleted, and then nothing runs for a while",
			"keep the selector, or give the Deployment another name", false},
		{WebhookCertificate, "a webhook has no certificate", "a webhook names no Deployment of the bundle that could serve it with a certificate: the API server cannot call it, and refuses what it guards",
			"name a Deployment of the install strategy, with matchLabels in its selector and a name that a Service can have", false},
		{ImageMissing, "an image is missing", "the registry does not have an image that the bundle names",
			"push the image, or correct the reference in the ClusterServiceVersion and in relatedImages", false},
		{PermissionGrown, "a patch release asks for more", "the bundle may do more than the one before, and its version announces nothing: only the patch number is higher",
			"release a minor version, so that who approves upgrades sees that there is something to read; or do without the permission", true},
		{Orphaned, "an object is orphaned", "an object that the bundle before brought, and this one does not, is left in the cluster",
			"keep the object in the bundle, or let the operator delete what it made", false},
		{RollbackFailed, "the way back is closed", "the revision before cannot be installed in the place of this one",
			"keep the CustomResourceDefinitions compatible in both directions, as schema-narrowed and stored-version-dropped say", false},
		{ExampleRefused, "an example is refused", "the API server does not take an example of annotation alm-examples, which consoles offer to users to begin with",
			"correct the example, and check it with fairlead bundle validate", true},
		{UninstallLeft, "the removal leaves objects", "an object of the bundle is left after the operator is uninstalled",
			"let the bundle bring the object, so that it is removed with it, or let the operator own what it makes", false},
	}
}

// help is that of a rule; of one that is not in the list, its name.
func help(r Rule) RuleHelp {
	for _, h := range Rules() {
		if h.Rule == r {
			return h
		}
	}
	return RuleHelp{Rule: r, Title: string(r)}
}
