package clusterserviceversion

import (
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Phases, under the short names that keep the rows of the table on one line.
const (
	toNone         = v1alpha1.CSVPhaseNone
	toPending      = v1alpha1.CSVPhasePending
	toInstallReady = v1alpha1.CSVPhaseInstallReady
	toInstalling   = v1alpha1.CSVPhaseInstalling
	toSucceeded    = v1alpha1.CSVPhaseSucceeded
	toFailed       = v1alpha1.CSVPhaseFailed
	toReplacing    = v1alpha1.CSVPhaseReplacing
	toDeleting     = v1alpha1.CSVPhaseDeleting
)

func in(phases ...phase) []phase        { return phases }
func having(reasons ...reason) []reason { return reasons }

// gated are the phases in which the OperatorGroup matters. A CSV on its way out is in none of them: nothing that it still
// does depends on the group, and sending it back to Failed would have two versions of an operator fight over the same
// Deployments.
var gated = in(toNone, toPending, toInstallReady, toInstalling, toSucceeded, toFailed)

// table is the whole state machine. The first row that fits wins, so what has to be settled first stands first.
var table = slices.Concat(gateRows, pendingRows, installRows, succeededRows, failedRows, replacementRows)

// gateRows are about the OperatorGroup of the namespace and come before everything else.
var gateRows = []transition{
	{from: in(toNone, toPending), when: adoptRefused, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: "{detail}", rest: true},
	{from: gated, when: adoptRefused, message: "{detail}", rest: true},
	{from: gated, when: metadataDiffers, do: adopt},
	// An operator that runs gets its permissions elsewhere first, see correct. One that waits for something may never get there.
	{from: in(toNone, toPending, toFailed, toReplacing), when: beyondTargets, do: withdraw},
	{from: gated, when: noGroup, to: toFailed, because: v1alpha1.CSVReasonNoOperatorGroup,
		message: "csv in namespace with no operatorgroups: {detail}", rest: true},
	{from: gated, when: severalGroups, to: toFailed, because: v1alpha1.CSVReasonTooManyOperatorGroups,
		message: "csv in namespace with multiple operatorgroups, none can be picked automatically: {detail}", rest: true},
	{from: in(toNone, toPending), when: groupUnsynced, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: waits + "{detail}", rest: true},
	{from: in(toInstalling, toSucceeded), when: driftedUnsettled, do: correct},
	// These reasons are those of an install that is repeated: the operator runs. What is installed for the first time waits for the group.
	{from: in(toInstallReady), reasons: having(v1alpha1.CSVReasonWaiting, v1alpha1.CSVReasonComponentUnhealthy), when: driftedUnsettled, do: correct},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed, v1alpha1.CSVReasonComponentUnhealthy), when: driftedUnsettled, do: correct},
	{from: in(toSucceeded), when: groupUnsynced, message: "install strategy completed with no errors; waiting for {detail}", rest: true},
	{from: gated, when: groupUnsynced, message: waits + "{detail}", rest: true},
	{from: gated, when: noTargets, to: toFailed, because: v1alpha1.CSVReasonNoTargetNamespaces,
		message: "{detail}", rest: true},
	{from: gated, when: duplicateModes, to: toFailed, because: v1alpha1.CSVReasonInvalidInstallModes,
		message: "{detail}", rest: true},
	{from: gated, when: unsupportedGroup, to: toFailed, because: v1alpha1.CSVReasonUnsupportedOperatorGroup,
		message: "{detail}", rest: true},
	{from: gated, when: apisStatic, do: stop, to: toFailed, because: v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs,
		message: "static operatorgroup cannot provide the apis: {detail}", rest: true},
	{from: gated, when: apisConflict, do: stop, to: toFailed, because: v1alpha1.CSVReasonInterOperatorGroupOwnerConflict,
		message: "intersecting operatorgroups provide the same apis: {detail}", rest: true},
	{from: in(toNone, toPending), when: apisUnlisted, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: waits + "{detail}", rest: true},
	{from: in(toSucceeded), when: apisUnlisted, message: "install strategy completed with no errors; waiting for {detail}", rest: true},
	{from: gated, when: apisUnlisted, message: waits + "{detail}", rest: true},
}

// pendingRows are about what has to be there before the install.
var pendingRows = []transition{
	{from: in(toNone), when: always, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: "requirements not yet checked"},
	{from: in(toPending), when: predecessorNotUpgradeable, because: v1alpha1.CSVReasonOperatorConditionNotUpgradeable,
		message: "operator is not upgradeable: {detail}", rest: true},
	{from: in(toPending), when: requirementsInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidStrategy,
		message: "install strategy invalid: {detail}", rest: true},
	// The CRD of the next version is there already: what this version needs does not come back, and the next one waits for it to hand over.
	{from: in(toPending), when: outgrown, to: toReplacing, because: v1alpha1.CSVReasonBeingReplaced,
		message: "being replaced by csv: {detail}"},
	{from: in(toPending), when: requirementsNotMet, because: v1alpha1.CSVReasonRequirementsNotMet,
		message: "one or more requirements couldn't be found: {detail}"},
	{from: in(toPending), when: webhooksInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidWebhookDescription,
		message: "{detail}", rest: true},
	{from: in(toPending), when: crdConflict, to: toFailed, because: v1alpha1.CSVReasonOwnerConflict,
		message: "conflicting CRD owner in namespace: {detail}", rest: true},
	{from: in(toPending), when: apiServicesForeign, to: toFailed, because: v1alpha1.CSVReasonOwnerConflict,
		message: "unable to adopt APIService: {detail}", rest: true},
	{from: in(toPending), when: deploymentsForeign, to: toFailed, because: v1alpha1.CSVReasonOwnerConflict,
		message: "conflicting Deployment owner in namespace: {detail}", rest: true},
	{from: in(toPending), when: predecessorHolds, because: v1alpha1.CSVReasonRequirementsMet,
		message: "all requirements found, waiting for {detail}", rest: true},
	{from: in(toPending), when: installerMissing, because: v1alpha1.CSVReasonRequirementsMet,
		message: "all requirements found, {detail}", rest: true},
	{from: in(toPending), when: always, to: toInstallReady, because: v1alpha1.CSVReasonRequirementsMet,
		message: "all requirements found, attempting install"},
}

// installRows are about the attempt and about waiting for what it made.
var installRows = []transition{
	{from: in(toInstallReady), when: requirementsInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidStrategy,
		message: "install strategy invalid: {detail}", rest: true},
	{from: in(toInstallReady, toInstalling), when: deploymentsForeign, to: toFailed, because: v1alpha1.CSVReasonOwnerConflict,
		message: "conflicting Deployment owner in namespace: {detail}", rest: true},
	{from: in(toInstallReady), when: certificatesUntrusted, do: stage},
	{from: in(toInstallReady), when: notInstalled, do: install},
	{from: in(toInstallReady), when: installRefused, to: toFailed, because: v1alpha1.CSVReasonComponentFailedNoRetry,
		message: "install strategy failed: {detail}", rest: true},
	{from: in(toInstallReady), when: installFailed, to: toFailed, because: v1alpha1.CSVReasonComponentFailed,
		message: "install strategy failed: {detail}", rest: true},
	{from: in(toInstallReady), when: always, to: toInstalling, because: v1alpha1.CSVReasonInstallSuccessful,
		message: "waiting for install components to report healthy"},

	{from: in(toInstalling), when: requirementsInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidStrategy,
		message: "install strategy invalid: {detail}", rest: true},
	{from: in(toInstalling), when: webhooksInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidWebhookDescription,
		message: "{detail}", rest: true},
	{from: in(toInstalling), when: certificatesUntrusted, do: stage},
	{from: in(toInstalling), when: notComputable, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "calculated deployment install is bad: {detail}"},
	{from: in(toInstalling), when: deploymentsStuck, to: toFailed, because: v1alpha1.CSVReasonInstallCheckFailed,
		message: "install failed: {detail}", rest: true},
	{from: in(toInstalling), when: apiServicesForeign, to: toFailed, because: v1alpha1.CSVReasonAPIServiceInstallFailed,
		message: "APIService install failed: {detail}", rest: true},
	{from: in(toInstalling), when: deploymentsMissing, to: toInstallReady, because: v1alpha1.CSVReasonWaiting,
		message: "installing: {detail}"},
	{from: in(toInstalling), when: deploymentsChanged, to: toInstallReady, because: v1alpha1.CSVReasonWaiting,
		message: "installing: {detail}"},
	{from: in(toInstalling), when: apiServicesBroken, to: toInstallReady, because: v1alpha1.CSVReasonWaiting,
		message: "apiServices not installed: {detail}"},
	{from: in(toInstalling), when: drifted, do: correct},
	{from: in(toInstalling), when: installTimedOut, to: toFailed, because: v1alpha1.CSVReasonInstallCheckFailed,
		message: "install timeout: {detail}", rest: true},
	{from: in(toInstalling), when: deploymentsUnready, because: v1alpha1.CSVReasonWaiting,
		message: "installing: {detail}", rest: true},
	{from: in(toInstalling), when: apiServicesUnready, because: v1alpha1.CSVReasonWaiting,
		message: "apiServices not installed: {detail}", rest: true},
	{from: in(toInstalling), when: webhooksFailed, because: v1alpha1.CSVReasonWaiting,
		message: "Webhook install failed: {detail}", rest: true},
	{from: in(toInstalling), when: webhooksMissing, do: registerHook},
	{from: in(toInstalling), when: deploymentsUnproven, because: v1alpha1.CSVReasonWaiting,
		message: "installing: {detail}", rest: true},
	{from: in(toInstalling), when: always, to: toSucceeded, because: v1alpha1.CSVReasonInstallSuccessful,
		message: "install strategy completed with no errors"},
}

// succeededRows are about what can go wrong with an operator that runs.
var succeededRows = []transition{
	{from: in(toSucceeded), when: replaced, to: toReplacing, because: v1alpha1.CSVReasonBeingReplaced,
		message: "being replaced by csv: {detail}"},
	{from: in(toSucceeded), when: requirementsInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidStrategy,
		message: "install strategy invalid: {detail}", rest: true},
	{from: in(toSucceeded), when: webhooksInvalid, to: toFailed, because: v1alpha1.CSVReasonInvalidWebhookDescription,
		message: "{detail}", rest: true},
	{from: in(toSucceeded), when: certificatesDue, to: toPending, because: v1alpha1.CSVReasonNeedsCertRotation,
		message: "CSV owns resources that require a cert refresh: {detail}"},
	{from: in(toSucceeded), when: certificatesUntrusted, do: stage},
	{from: in(toSucceeded), when: requirementsNotMet, to: toFailed, because: v1alpha1.CSVReasonRequirementsNotMet,
		message: "requirements no longer met: {detail}"},
	{from: in(toSucceeded), when: notComputable, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "calculated deployment install is bad: {detail}"},
	{from: in(toSucceeded), when: apiServicesForeign, to: toFailed, because: v1alpha1.CSVReasonAPIServiceResourceIssue,
		message: "{detail}", rest: true},
	{from: in(toSucceeded), when: apiServicesBroken, to: toFailed, because: v1alpha1.CSVReasonAPIServiceResourceIssue,
		message: "{detail}"},
	{from: in(toSucceeded), when: deploymentsStuck, to: toFailed, because: v1alpha1.CSVReasonInstallCheckFailed,
		message: "install failed: {detail}", rest: true},
	{from: in(toSucceeded), when: deploymentsMissing, to: toFailed, because: v1alpha1.CSVReasonComponentUnhealthy,
		message: "installing: {detail}"},
	{from: in(toSucceeded), when: deploymentsChanged, to: toInstallReady, because: v1alpha1.CSVReasonComponentUnhealthy,
		message: "installing: {detail}"},
	{from: in(toSucceeded), when: drifted, do: correct},
	{from: in(toSucceeded), when: apisDisrupted, rest: true},
	{from: in(toSucceeded), when: deploymentsUnready, to: toFailed, because: v1alpha1.CSVReasonComponentUnhealthy,
		message: "installing: {detail}"},
	{from: in(toSucceeded), when: apiServicesUnready, to: toFailed, because: v1alpha1.CSVReasonComponentUnhealthy,
		message: "apiServices not installed: {detail}"},
	{from: in(toSucceeded), when: webhooksFailed, to: toFailed, because: v1alpha1.CSVReasonComponentUnhealthy,
		message: "webhooks not installed: {detail}", rest: true},
	{from: in(toSucceeded), when: webhooksMissing, do: registerHook},
	{from: in(toSucceeded), when: certificatesUnstaged, do: stage},
	{from: in(toSucceeded), when: always, message: "install strategy completed with no errors"},
}

// failedRows are about the ways back.
var failedRows = []transition{
	{from: in(toFailed), when: failForwardReplaced, to: toReplacing, because: v1alpha1.CSVReasonBeingReplaced,
		message: "Fail Forward is enabled, allowing Failed csv to be replaced by csv: {detail}"},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonNoOperatorGroup, v1alpha1.CSVReasonTooManyOperatorGroups,
		v1alpha1.CSVReasonNoTargetNamespaces, v1alpha1.CSVReasonInvalidInstallModes, v1alpha1.CSVReasonUnsupportedOperatorGroup),
		when: always, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: "InstallModes now support target namespaces"},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs),
		when: always, to: toPending, because: v1alpha1.CSVReasonRequirementsUnknown,
		message: "OperatorGroup no longer intersects with another provider of the same APIs"},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonComponentFailedNoRetry), when: stillRefused,
		message: "install strategy failed: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonComponentFailedNoRetry), when: always,
		to: toPending, because: v1alpha1.CSVReasonDetectedClusterChange, message: "Cluster resources changed state"},
	{from: in(toFailed), when: requirementsInvalid, because: v1alpha1.CSVReasonInvalidStrategy,
		message: "install strategy invalid: {detail}", rest: true},
	{from: in(toFailed), when: webhooksInvalid, because: v1alpha1.CSVReasonInvalidWebhookDescription,
		message: "{detail}", rest: true},
	{from: in(toFailed), when: requirementsNotMet, to: toPending, because: v1alpha1.CSVReasonRequirementsNotMet,
		message: "requirements not met: {detail}"},
	{from: in(toFailed), when: certificatesDue, to: toPending, because: v1alpha1.CSVReasonNeedsCertRotation,
		message: "owned APIServices need cert refresh: {detail}"},
	{from: in(toFailed), when: notComputable, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "calculated deployment install is bad: {detail}"},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonOwnerConflict), when: crdConflict,
		message: "conflicting CRD owner in namespace: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonOwnerConflict), when: apiServicesForeign,
		message: "unable to adopt APIService: {detail}", rest: true},
	{from: in(toFailed), when: apiServicesForeign, rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonOwnerConflict), when: deploymentsForeign,
		message: "conflicting Deployment owner in namespace: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonOwnerConflict), when: always,
		to: toPending, because: v1alpha1.CSVReasonNeedsReinstall, message: "what another ClusterServiceVersion owned is free"},
	{from: in(toFailed), when: apiServicesBroken, to: toPending, because: v1alpha1.CSVReasonAPIServiceResourcesNeedReinstall,
		message: "owned APIServices need to be installed again: {detail}"},
	{from: in(toFailed), when: deploymentsMissing, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "installing: {detail}"},
	{from: in(toFailed), when: deploymentsChanged, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "installing: {detail}"},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: drifted, do: correct},
	// An install that ran out of time is not repeated as long as everything is there as desired: that would change
	// nothing but the status. The CSV rests here until its components become healthy.
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: deploymentsStuck,
		message: "install failed: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: deploymentsUnready,
		message: "install timeout: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: apiServicesUnready,
		message: "install timeout: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: webhooksFailed,
		message: "install timeout: {detail}", rest: true},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: webhooksMissing, do: registerHook},
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonInstallCheckFailed), when: deploymentsUnproven,
		message: "install timeout: {detail}", rest: true},
	{from: in(toFailed), when: deploymentsUnready, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "installing: {detail}"},
	{from: in(toFailed), when: apiServicesUnready, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "apiServices not installed: {detail}"},
	{from: in(toFailed), when: webhooksMissing, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "webhooks not installed: {detail}"},
	{from: in(toFailed), when: deploymentsUnproven, to: toPending, because: v1alpha1.CSVReasonNeedsReinstall,
		message: "installing: {detail}"},
	// Parts of the install failed, and everything is to be there before it counts as one that has succeeded.
	{from: in(toFailed), reasons: having(v1alpha1.CSVReasonComponentFailed), when: drifted,
		to: toPending, because: v1alpha1.CSVReasonNeedsReinstall, message: "installing: {detail}"},
	{from: in(toFailed), when: always, to: toSucceeded, because: v1alpha1.CSVReasonInstallSuccessful,
		message: "install strategy completed with no errors"},
}

// replacementRows are about a CSV that another one replaces. A chain is taken down from its oldest end.
var replacementRows = []transition{
	{from: in(toReplacing), when: driftedMeanwhile, do: correct},
	{from: in(toReplacing), when: ownCertificatesUnstaged, do: stageOwn},
	{from: in(toReplacing), when: ownCertificatesDue, do: renewOwn},
	{from: in(toReplacing), when: predecessorExists, because: v1alpha1.CSVReasonBeingReplaced,
		message: "being replaced; waiting for {detail}", rest: true},
	{from: in(toReplacing), when: successorMissing, because: v1alpha1.CSVReasonBeingReplaced,
		message: "{detail}", rest: true},
	{from: in(toReplacing), when: requestsUnderWay, do: retire, because: v1alpha1.CSVReasonBeingReplaced,
		message: "replaced by csv: {detail}, which is installed; requests that are under way are answered first", rest: true},
	{from: in(toReplacing), when: successorInstalled, to: toDeleting, because: v1alpha1.CSVReasonReplaced,
		message: "replaced by csv: {detail}, which is installed", rest: true},
	{from: in(toReplacing), when: unhealthyMeanwhile, because: v1alpha1.CSVReasonBeingReplaced,
		message: "being replaced by csv: {detail}", rest: true},
	{from: in(toReplacing), when: healthyMeanwhile, because: v1alpha1.CSVReasonBeingReplaced,
		message: "being replaced by csv: {detail}", rest: true},
	{from: in(toDeleting), when: always, do: deleteSelf, rest: true},
}
