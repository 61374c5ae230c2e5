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
  name: "WireSoak",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/AppCheck"),
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Database"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Functions"),
    .package(path: "../../Packages/Installations"),
    .package(path: "../../Packages/Messaging"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/Storage"),
    .package(path: "../../Interop/AppCheckBackend"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/DatabaseBackend"),
    .package(path: "../../Interop/FirestoreBackend"),
    .package(path: "../../Interop/FunctionsBackend"),
    .package(path: "../../Interop/InstallationsBackend"),
    .package(path: "../../Interop/MessagingBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/StorageBackend"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .executableTarget(
      name: "WireSoakProgram",
      dependencies: [
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaAppCheckWire", package: "AppCheck"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaAuthWire", package: "Auth"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
        .product(name: "VestaDatabaseWire", package: "Database"),
        .product(name: "VestaFirestoreBackend", package: "FirestoreBackend"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsWire", package: "Functions"),
        .product(name: "VestaInstallationsBackend", package: "InstallationsBackend"),
        .product(name: "VestaInstallationsWire", package: "Installations"),
        .product(name: "VestaMessagingBackend", package: "MessagingBackend"),
        .product(name: "VestaMessagingWire", package: "Messaging"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigWire", package: "RemoteConfig"),
        .product(name: "VestaStorageBackend", package: "StorageBackend"),
        .product(name: "VestaStorageWire", package: "Storage"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "WireSoakTests",
      dependencies: [
        "WireSoakProgram",
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
