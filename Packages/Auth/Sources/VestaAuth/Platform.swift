// What depends on the platform in this module stands here: the language.
import Foundation

/// The language that the user of this device prefers, such as "de" or "pt-BR".
func preferredLanguage() -> String? { Locale.preferredLanguages.first }
