package messages

import (
	"regexp"
	"strings"
)

// refused is what an API server says of a user who may not do something.
var refused = regexp.MustCompile(`User "([^"]*)" cannot (\w+)`)

// Unseen is a note about objects that a user may not see: what they are, and what follows from that.
// err is the answer of the API server, which names the user.
func Unseen(err error, what, follows string) string {
	user, verb := "", "read"
	if err != nil {
		if m := refused.FindStringSubmatch(err.Error()); m != nil {
			user = m[1]
			if m[2] == "list" {
				verb = "listed"
			}
		}
	}
	if strings.TrimSpace(user) == "" {
		return what + " cannot be " + verb + " by this user: " + follows
	}
	return what + " cannot be " + verb + " as user " + Clean(user) + ": " + follows
}
