// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "ChatBot",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Interop/AuthBackend"),
    .package(path: "../../../Interop/MessagingBackend"),
    .package(path: "../../../Interop/ServiceInterop"),
    .package(path: "../../../Packages/Auth"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/Firestore"),
    .package(path: "../../../Packages/Functions"),
    .package(path: "../../../Packages/Messaging"),
    .package(path: "../../../Packages/Rules"),
    .package(path: "../../../Packages/SQLite"),
  ],
  targets: [
    .executableTarget(
      name: "ChatBot",
      dependencies: [
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRulesGuards", package: "Rules"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
