package console

import (
	"maps"
	"net/http"
	"slices"
)

// backKey is the field of a form with the address of its page, where a form has sent that page: the browser has another address for it, at which it cannot be read again.
const backKey = "back"

// shownKey is the field with what the page of a form has shown, which is what the form may change.
const shownKey = "shown"

// backTo is the page that a form was on, for local to check.
func backTo(r *http.Request) string {
	if address := r.PostForm.Get(backKey); address != "" {
		return address
	}
	return before(r)
}

// sentForm is what a form has said, to be sent again: no address may have all of it.
type sentForm struct {
	To     string
	Fields []parameter
}

// sentAgain is the form of a request, to be sent to a page relative to its path. What belongs to the page that it was on is left out, as the next one has its own.
func sentAgain(r *http.Request, to string) *sentForm {
	at, err := r.URL.Parse(to)
	if err != nil || len(r.PostForm) == 0 {
		return nil
	}
	again := &sentForm{To: at.EscapedPath()}
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		for _, value := range r.PostForm[name] {
			if !slices.Contains([]string{formKey, shownKey, backKey}, name) {
				again.Fields = append(again.Fields, parameter{name, value})
			}
		}
	}
	return again
}

// failForm answers a form with an error, from which there is a way back with all that the form said where page names one.
func (c *Console) failForm(w http.ResponseWriter, r *http.Request, err error, page string) {
	var again *sentForm
	if page != "" {
		again = sentAgain(r, page)
	}
	c.failWith(w, r, err, again)
}
