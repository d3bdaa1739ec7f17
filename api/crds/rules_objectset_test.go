package crds_test

import (
	"strings"
	"testing"
)

const objectSet = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterObjectSet
metadata: {name: a-1}
spec:
  lifecycleState: Active
  revision: 1
  collisionProtection: Prevent
  phases:
  - name: deploy
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, data: {any: thing}}
    - ref: {name: objects, key: a}
      collisionProtection: None
`

func probes(probe string) string { return `{spec: {progressionProbes: [` + probe + `]}}` }

func TestClusterObjectSetRules(t *testing.T) {
	const byKind = `selector: {type: GroupKind, groupKind: {group: apps, kind: Deployment}}`
	const ready = `assertions: [{type: ConditionEqual, conditionEqual: {type: Ready, status: "True"}}]`
	object := `{object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}`
	checkCreate(t, objectSet, map[string]ruleCase{
		"as it is":               {`{}`, "", ""},
		"no spec":                {`{spec: null}`, "", ""},
		"no state":               {`{spec: {lifecycleState: null}}`, "spec.lifecycleState", "Required"},
		"unknown state":          {`{spec: {lifecycleState: Paused}}`, "spec.lifecycleState", "Archived"},
		"no revision":            {`{spec: {revision: null}}`, "spec.revision", "Required"},
		"revision 0":             {`{spec: {revision: 0}}`, "spec.revision", "1"},
		"no protection":          {`{spec: {collisionProtection: null}}`, "spec.collisionProtection", "Required"},
		"unknown protection":     {`{spec: {collisionProtection: Always}}`, "spec.collisionProtection", "IfNoController"},
		"deadline too short":     {`{spec: {progressDeadlineMinutes: 9}}`, "spec.progressDeadlineMinutes", "10"},
		"no phases":              {`{spec: {phases: null}}`, "", ""},
		"phase twice":            {`{spec: {phases: [{name: a, objects: []}, {name: a, objects: []}]}}`, "spec.phases[1]", "Duplicate"},
		"phase in upper case":    {`{spec: {phases: [{name: A, objects: []}]}}`, "spec.phases[0].name", "DNS1123 label"},
		"phase without objects":  {`{spec: {phases: [{name: a}]}}`, "spec.phases[0].objects", "Required"},
		"too many phases":        {`{spec: {phases: [` + strings.Repeat(`{name: a, objects: []},`, 21) + `]}}`, "spec.phases", "20"},
		"too many objects":       {`{spec: {phases: [{name: a, objects: [` + strings.Repeat(object+",", 51) + `]}]}}`, "spec.phases[0].objects", "50"},
		"object and ref":         {`{spec: {phases: [{name: a, objects: [{object: {apiVersion: v1, kind: A, metadata: {name: a}}, ref: {name: a, key: b}}]}]}}`, "spec.phases[0].objects[0]", "exactly one of the fields in [object ref] must be set"},
		"neither object nor ref": {`{spec: {phases: [{name: a, objects: [{}]}]}}`, "spec.phases[0].objects[0]", "exactly one of the fields in [object ref] must be set"},
		"object without kind":    {`{spec: {phases: [{name: a, objects: [{object: {apiVersion: v1, metadata: {name: a}}}]}]}}`, "spec.phases[0].objects[0].object.kind", "Required"},
		"ref without key":        {`{spec: {phases: [{name: a, objects: [{ref: {name: a}}]}]}}`, "spec.phases[0].objects[0].ref.key", "Required"},
		"probe by kind":          {probes(`{` + byKind + `, ` + ready + `}`), "", ""},
		"probe by label":         {probes(`{selector: {type: Label, label: {matchLabels: {a: b}}}, ` + ready + `}`), "", ""},
		"no probes":              {`{spec: {progressionProbes: []}}`, "spec.progressionProbes", "at least 1"},
		"no assertions":          {probes(`{` + byKind + `, assertions: []}`), "spec.progressionProbes[0].assertions", "at least 1"},
		"kind missing":           {probes(`{selector: {type: GroupKind}, ` + ready + `}`), "spec.progressionProbes[0].selector", "groupKind is required when type is GroupKind"},
		"label forbidden":        {probes(`{selector: {type: GroupKind, groupKind: {group: a, kind: b}, label: {matchLabels: {a: b}}}, ` + ready + `}`), "spec.progressionProbes[0].selector", "label is required when type is Label, and forbidden otherwise"},
		"label both ways":        {probes(`{selector: {type: Label, label: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}}, ` + ready + `}`), "spec.progressionProbes[0].selector.label", "exactly one of matchLabels or matchExpressions"},
		"label neither way":      {probes(`{selector: {type: Label, label: {}}, ` + ready + `}`), "spec.progressionProbes[0].selector.label", "exactly one of matchLabels or matchExpressions"},
		"fields equal":           {probes(`{` + byKind + `, assertions: [{type: FieldsEqual, fieldsEqual: {fieldA: spec.replicas, fieldB: status.replicas}}]}`), "", ""},
		"field value":            {probes(`{` + byKind + `, assertions: [{type: FieldValue, fieldValue: {fieldPath: status.phase, value: Bound}}]}`), "", ""},
		"list index":             {probes(`{` + byKind + `, assertions: [{type: FieldValue, fieldValue: {fieldPath: "status.a[0]", value: b}}]}`), "spec.progressionProbes[0].assertions[0].fieldValue.fieldPath", "should match"},
		"assertion of two types": {probes(`{` + byKind + `, assertions: [{type: FieldValue, fieldValue: {fieldPath: a, value: b}, fieldsEqual: {fieldA: a, fieldB: b}}]}`), "spec.progressionProbes[0].assertions[0]", "fieldsEqual is required when type is FieldsEqual, and forbidden otherwise"},
		"unknown status":         {probes(`{` + byKind + `, assertions: [{type: ConditionEqual, conditionEqual: {type: Ready, status: Unknown}}]}`), "spec.progressionProbes[0].assertions[0].conditionEqual.status", "True"},
		"observed phases":        {`{status: {observedPhases: [{name: deploy, digest: "sha256:abc123"}]}}`, "", ""},
		"observed without kind":  {`{status: {observedPhases: [{name: deploy, digest: abc123}]}}`, "status.observedPhases[0].digest", "digest must be"},
	})
}

func TestClusterObjectSetUpdateRules(t *testing.T) {
	checkUpdate(t, objectSet, map[string]ruleCase{
		"archive":          {`{spec: {lifecycleState: Archived}}`, "", ""},
		"other revision":   {`{spec: {revision: 2}}`, "spec.revision", "revision is immutable"},
		"other protection": {`{spec: {collisionProtection: None}}`, "spec.collisionProtection", "collisionProtection is immutable"},
		"other phases":     {`{spec: {phases: [{name: a, objects: []}]}}`, "spec.phases", "phases is immutable"},
		"observe phases":   {`{status: {observedPhases: [{name: deploy, digest: "sha256:abc123"}]}}`, "", ""},
	})
	archived := strings.Replace(objectSet, "Active", "Archived", 1) + "\nstatus: {observedPhases: [{name: deploy, digest: 'sha256:abc123'}]}"
	checkUpdate(t, archived, map[string]ruleCase{
		"bring back":        {`{spec: {lifecycleState: Active}}`, "spec.lifecycleState", "cannot un-archive"},
		"observe otherwise": {`{status: {observedPhases: [{name: deploy, digest: "sha256:def456"}]}}`, "status.observedPhases", "observedPhases is immutable"},
	})
	empty := strings.Split(objectSet, "  phases:")[0] + "  phases: []\n"
	checkUpdate(t, empty, map[string]ruleCase{
		"set phases once": {`{spec: {phases: [{name: a, objects: []}]}}`, "", ""},
	})
}
