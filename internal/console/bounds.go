package console

import (
	"fmt"
	"reflect"
	"strconv"
)

// some is the beginning of a list, and how many more there are.
type some struct {
	Items any
	More  int
}

// first bounds a list that a page shows: what catalogs and objects have may be long.
func first(most int, list any) (some, error) {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return some{}, fmt.Errorf("a page shows the first of a list, and this is a %T", list)
	}
	n := min(most, v.Len())
	return some{v.Slice(0, n).Interface(), v.Len() - n}, nil
}

// paged is which of the pages of a list is asked for, how many there are, and what it has of the list.
func paged(asked string, total, perPage int) (page, pages, from, to int) {
	pages = max(1, (total+perPage-1)/perPage)
	page, _ = strconv.Atoi(asked) // what is no number is the first
	page = min(max(1, page), pages)
	return page, pages, (page - 1) * perPage, min(page*perPage, total)
}
