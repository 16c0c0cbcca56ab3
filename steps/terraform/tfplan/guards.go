package tfplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// guards are the settings by which providers keep an object, or its content, from
// an accident: the API refuses a deletion, or leaves something to come back to. Of
// the others the name alone does not tell. The value says which value protects.
var guards = map[string]func(any) bool{
	"deletion_protection":              isTrue,
	"deletion_protection_enabled":      isTrue,
	"enable_deletion_protection":       isTrue,
	"disable_api_termination":          isTrue,
	"termination_protection":           isTrue,
	"purge_protection_enabled":         isTrue,
	"object_lock_enabled":              isTrue,
	"skip_final_snapshot":              isFalse,
	"force_destroy":                    isFalse,
	"backup_retention_period":          isAbove,
	"soft_delete_retention_days":       isAbove,
	"deletion_window_in_days":          isAbove,
	"recovery_window_in_days":          isAbove,
	"persistent_volume_reclaim_policy": isRetain,
	"reclaim_policy":                   isRetain,
	"deletion_policy":                  isKept,
}

// keeps are blocks that keep earlier content while they are on.
var keeps = map[string]string{"versioning": "enabled", "point_in_time_recovery": "enabled"}

func isTrue(v any) bool   { return v == true }
func isFalse(v any) bool  { return v == false }
func isAbove(v any) bool  { n, ok := v.(float64); return ok && n > 0 }
func isRetain(v any) bool { return v == "Retain" }
func isKept(v any) bool   { return v == "ABANDON" || v == "PREVENT" }

// guardsOf are the settings of an object that protect it, and those that say that
// nothing does, each as name=value in order. Both are empty where none of its
// settings is known to protect.
func guardsOf(before map[string]any) (held, open []string) {
	look := func(at string, settings map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			protects, known := guards[name]
			v := settings[name]
			if !known || v == nil {
				continue
			}
			if said := fmt.Sprintf("%s%s=%v", at, name, v); protects(v) {
				held = append(held, said)
			} else {
				open = append(open, said)
			}
		}
	}
	look("", before)
	for _, block := range slices.Sorted(maps.Keys(before)) {
		list, ok := before[block].([]any)
		if !ok || len(list) != 1 {
			continue
		}
		in, _ := list[0].(map[string]any)
		if block == "spec" || block == "metadata" {
			look(block+".", in)
		}
		if on, known := keeps[block]; known {
			if said := fmt.Sprintf("%s.%s=%v", block, on, in[on]); in[on] == true {
				held = append(held, said)
			} else {
				open = append(open, said)
			}
		}
		if f, ok := in["finalizers"].([]any); ok && len(f) > 0 {
			held = append(held, block+".finalizers="+strings.Trim(fmt.Sprint(f), "[]"))
		}
	}
	return held, open
}
