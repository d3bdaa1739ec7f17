package permissions

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxCommand bounds a command in a status, in bytes: with the rules it has to fit into a condition.
const maxCommand = 8 << 10

// Command is one line for a shell that grants a subject the missing rules, by Roles and ClusterRoles of a name; false where it would be too long for a
// status. It adds to roles of that name: what an earlier command granted stays. What it quotes comes from bundles, so it is ASCII without control
// characters and without the quote of the shell.
func Command(name string, subject Subject, missing []MissingRule) (string, bool) {
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{"v1", "List", granting(name, subject, missing)}
	text, err := json.Marshal(list)
	if err != nil {
		return "", false
	}
	command := "printf %s '" + plain(string(text)) + "' | kubectl auth reconcile -f -"
	return command, len(command) <= maxCommand
}

// plain is JSON with the quote of the shell, and all that is not printable ASCII, escaped. Such characters are within its strings only.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r == '\'' || r < 0x20 || r > 0x7e:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Lacking is the error of a service account that may not do what installing an extension needs.
type Lacking struct {
	Extension string
	Account   Subject
	Missing   []MissingRule
	// Incomplete is why more may be missing; nil when that is all.
	Incomplete error
}

// Error ends with the one command that grants what is missing.
func (l *Lacking) Error() string {
	command, ok := Command(l.RoleName(), l.Account, l.Missing)
	if !ok {
		command = fmt.Sprintf("fairlead plan %s -o json | jq -r .missingRoles | kubectl auth reconcile -f -", l.Extension)
	}
	return Message(l.Missing, l.Incomplete) + "\nafter reading them, an administrator of the cluster grants them with: " + command
}

// RoleName is that of the roles and bindings that grant what is missing.
func (l *Lacking) RoleName() string { return l.Extension + "-installer" }
