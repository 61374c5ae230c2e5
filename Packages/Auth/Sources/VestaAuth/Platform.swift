// The code of this module that depends on the platform: the language.
import Foundation

/// The language that the user of this device prefers, such as "de" or "pt-BR".
func preferredLanguage() -> String? { Locale.preferredLanguages.first }
