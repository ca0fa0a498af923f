// main.swift: runs every snippet. It ends with 1 if one throws, or gives a result that is not
// RealmSwift's; one that stops the process ends it with its name as the last line.

import Foundation
import ObjectDatabase

setvbuf(stdout, nil, _IOLBF, 0)
Realm.Configuration.defaultConfiguration.inMemoryIdentifier = "default of the snippets"
let chapters: [(name: String, snippets: [(String, () throws -> Void)])] = [
  ("Opening", OpeningSnippets.all),
  ("Properties", PropertiesSnippets.all),
  ("Create", CreateSnippets.all),
  ("Read", ReadSnippets.all),
  ("Sections", SectionsSnippets.all),
  ("Update", UpdateSnippets.all),
  ("Delete", DeleteSnippets.all),
  ("Lists", ListsSnippets.all),
  ("Sets", SetsSnippets.all),
  ("Maps", MapsSnippets.all),
  ("Links", LinksSnippets.all),
  ("Notifications", NotificationsSnippets.all),
  ("Threads", ThreadsSnippets.all),
  ("Actors", ActorsSnippets.all),
  ("Migrations", MigrationsSnippets.all),
  ("Dynamic", DynamicSnippets.all),
  ("Projections", ProjectionsSnippets.all),
  ("Codable", CodableSnippets.all),
  ("Geo", GeoSnippets.all),
  ("MixedValues", MixedValuesSnippets.all),
  ("Names", NamesSnippets.all),
]
var count = 0
for chapter in chapters {
  for (name, snippet) in chapter.snippets {
    count += 1
    print("\(chapter.name): \(name)")
    do { try snippet() } catch {
      failureCount += 1
      print("  throws \(error)")
    }
  }
}
print("\(count) snippets compile and run, \(failureCount) results are others than RealmSwift's")
exit(failureCount == 0 ? 0 : 1)
