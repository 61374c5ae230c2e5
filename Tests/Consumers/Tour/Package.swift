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
  name: "Tour",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../../Interop/CryptoInterop"),
    .package(path: "../../../Interop/MessagingBackend"),
    .package(path: "../../../Interop/RemoteConfigBackend"),
    .package(path: "../../../Interop/ServiceInterop"),
    .package(path: "../../../Interop/StoreInterop"),
    .package(path: "../../../Packages/Auth"),
    .package(path: "../../../Packages/Core"),
    .package(path: "../../../Packages/Crypto"),
    .package(path: "../../../Packages/Database"),
    .package(path: "../../../Packages/Firestore"),
    .package(path: "../../../Packages/Functions"),
    .package(path: "../../../Packages/Installations"),
    .package(path: "../../../Packages/Messaging"),
    .package(path: "../../../Packages/RemoteConfig"),
    .package(path: "../../../Packages/Rules"),
    .package(path: "../../../Packages/SQLite"),
    .package(path: "../../../Packages/Storage"),
    .package(path: "../../../Packages/Transport"),
  ],
  targets: [
    .executableTarget(
      name: "Tour",
      dependencies: [
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaDatabase", package: "Database"),
        .product(name: "VestaDatabaseRemote", package: "Database"),
        .product(name: "VestaDatabaseService", package: "Database"),
        .product(name: "VestaFirestore", package: "Firestore"),
        .product(name: "VestaFirestoreRemote", package: "Firestore"),
        .product(name: "VestaFirestoreService", package: "Firestore"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaInstallationsRemote", package: "Installations"),
        .product(name: "VestaMessaging", package: "Messaging"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingRemote", package: "Messaging"),
        .product(name: "VestaMessagingService", package: "Messaging"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigRemote", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaRules", package: "Rules"),
        .product(name: "VestaRulesTesting", package: "Rules"),
        .product(name: "VestaStorage", package: "Storage"),
        .product(name: "VestaStorageRemote", package: "Storage"),
        .product(name: "VestaStorageService", package: "Storage"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaTransport", package: "Transport"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
