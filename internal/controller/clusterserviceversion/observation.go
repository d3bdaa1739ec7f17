package clusterserviceversion

// observation is something that may be true of a ClusterServiceVersion and the cluster around it. Each is observed
// only when a row of the table asks for it, and at most once between two actions.
type observation string

// Observations, in the order in which the table first asks for them.
const (
	// always is true.
	always observation = "always"

	// The CSV itself.
	adoptRefused    observation = "adoptRefused"    // the cluster refused its finalizer, labels and annotations in this pass
	metadataDiffers observation = "metadataDiffers" // it lacks its finalizer, or labels or annotations about it

	// The OperatorGroup of the namespace.
	beyondTargets       observation = "beyondTargets"       // the operator has permissions where the group does not target, or has no group
	noGroup             observation = "noGroup"             // there is none
	severalGroups       observation = "severalGroups"       // there are two or more
	groupUnsynced       observation = "groupUnsynced"       // it has not selected its target namespaces yet
	noTargets           observation = "noTargets"           // it selects no namespace
	duplicateModes      observation = "duplicateModes"      // the CSV lists an install mode twice
	unsupportedGroup    observation = "unsupportedGroup"    // the CSV's install modes do not support the targets
	apisStatic          observation = "apisStatic"          // the group is static and does not list the APIs of the CSV
	apisConflict        observation = "apisConflict"        // a group that reaches the same namespaces lists one of them
	apisUnlisted        observation = "apisUnlisted"        // the group has yet to list them
	driftedUnsettled    observation = "driftedUnsettled"    // one of the two is waited for, and another client changed what the strategy had set
	failForwardReplaced observation = "failForwardReplaced" // fail forward is on and another CSV replaces this one

	// What the CSV needs before it can be installed.
	predecessorNotUpgradeable observation = "predecessorNotUpgradeable" // the CSV that it replaces says that it cannot be upgraded now
	requirementsInvalid       observation = "requirementsInvalid"       // the strategy or a rule of it makes no sense
	outgrown                  observation = "outgrown"                  // a CRD lacks a version that it needs, and the CSV that replaces it owns the CRD in another
	requirementsNotMet        observation = "requirementsNotMet"        // something required is missing
	webhooksInvalid           observation = "webhooksInvalid"           // a webhook description is against the rules
	crdConflict               observation = "crdConflict"               // another CSV of the namespace owns one of its CRDs
	deploymentsForeign        observation = "deploymentsForeign"        // another CSV of the namespace has a Deployment of the same name
	predecessorHolds          observation = "predecessorHolds"          // the CSV that it replaces is not Replacing
	installerMissing          observation = "installerMissing"          // the service account of the OperatorGroup does not exist

	// The attempt to install.
	notInstalled   observation = "notInstalled"   // it was not tried in this pass
	installRefused observation = "installRefused" // it failed, and trying again changes nothing
	stillRefused   observation = "stillRefused"   // an earlier one was refused, and another one would be too
	installFailed  observation = "installFailed"  // it failed, and may work the next time

	// What the install strategy left in the cluster.
	notComputable           observation = "notComputable"           // what is desired cannot be computed: a certificate is gone
	deploymentsMissing      observation = "deploymentsMissing"      // a Deployment is gone
	deploymentsChanged      observation = "deploymentsChanged"      // a Deployment was made from another spec
	deploymentsStuck        observation = "deploymentsStuck"        // a Deployment gave up
	deploymentsUnready      observation = "deploymentsUnready"      // a Deployment is not available yet
	deploymentsUnproven     observation = "deploymentsUnproven"     // a Deployment is available, and has not been so for long enough
	drifted                 observation = "drifted"                 // another client changed what the strategy had set
	apiServicesForeign      observation = "apiServicesForeign"      // an owned API is registered by another owner
	apiServicesBroken       observation = "apiServicesBroken"       // an owned API is not registered as it should be
	apiServicesUnready      observation = "apiServicesUnready"      // an owned API is not available yet
	apisDisrupted           observation = "apisDisrupted"           // an owned API is not available because its pods are just being replaced
	certificatesDue         observation = "certificatesDue"         // a serving certificate is to be recreated
	certificatesUnstaged    observation = "certificatesUnstaged"    // one is due for renewal, and its successor is not staged or not trusted yet
	certificatesUntrusted   observation = "certificatesUntrusted"   // another client has put one into its Secret that clients do not trust
	ownCertificatesUnstaged observation = "ownCertificatesUnstaged" // the same of one that no successor has adopted
	ownCertificatesDue      observation = "ownCertificatesDue"      // a serving certificate that no successor has adopted is to be recreated
	webhooksMissing         observation = "webhooksMissing"         // a webhook is not registered as it should be
	webhooksFailed          observation = "webhooksFailed"          // a webhook could not be registered in this pass
	installTimedOut         observation = "installTimedOut"         // the components had their time to become healthy

	// The chain of replacements.
	replaced           observation = "replaced"           // another CSV replaces this one
	predecessorExists  observation = "predecessorExists"  // the CSV that it replaces is still there
	successorInstalled observation = "successorInstalled" // the CSV that replaces it has Succeeded
	requestsUnderWay   observation = "requestsUnderWay"   // the one that replaces it has Succeeded just now, and requests may still lead to this one
	driftedMeanwhile   observation = "driftedMeanwhile"   // another client changed what the strategy had set, and no successor has begun its install
	successorMissing   observation = "successorMissing"   // no CSV replaces it any more
	unhealthyMeanwhile observation = "unhealthyMeanwhile" // it is not healthy, and no successor has begun its install
	healthyMeanwhile   observation = "healthyMeanwhile"   // its status says that it is not healthy, which is over
)

// finding is the outcome of an observation: whether it holds, and what exactly was seen, for the message.
type finding struct {
	holds  bool
	detail string
}

// seen is the finding that something holds, seenNot that it does not.
func seen(detail string) finding { return finding{holds: true, detail: detail} }

var seenNot = finding{}

// action is something to do before the table is asked again.
type action string

const (
	none         action = ""
	adopt        action = "adopt"        // write the finalizer, and the labels and annotations
	withdraw     action = "withdraw"     // take away permissions outside of the targets
	install      action = "install"      // apply everything that the install strategy asks for
	correct      action = "correct"      // apply again what another client changed
	stage        action = "stage"        // store the certificates that take the place of others, and make everything trust them
	stageOwn     action = "stageOwn"     // the same for those that no successor has adopted
	renewOwn     action = "renewOwn"     // make the serving certificates again that no successor has adopted
	registerHook action = "registerHook" // register the webhooks
	retire       action = "retire"       // have its webhooks asked no more
	stop         action = "stop"         // delete the Deployments
	deleteSelf   action = "deleteSelf"   // delete the CSV
)
